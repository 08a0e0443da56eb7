"""Runs that are stuck at something that fails and would fail forever."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.runs import Call
from evaluation.synthetic.openings import CLUSTER, DESK, ORDERS, SESSION
from evaluation.synthetic.shapes import Table, bash, clock, edit, failed, read, rounds, tag

FAILING = Table("stuck")

MODULES = (
    "api",
    "auth",
    "cache",
    "cart",
    "export",
    "feed",
    "invoice",
    "mail",
    "menu",
    "queue",
    "refund",
    "report",
    "stock",
    "tax",
    "user",
)


@FAILING.shape("exact_repeat_error", ORDERS, news=1)
def same_failure() -> Iterator[Call]:
    """An import fails twelve times with the same traceback."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/dev/orders/src/orders/run.py", line 3, in <module>\n'
        "    import stripe\n"
        "ModuleNotFoundError: No module named 'stripe'\n"
    )
    return rounds(12, failed(bash("python -m orders.run", text)))


@FAILING.shape("exact_repeat_error", CLUSTER, news=1)
def clock_in_error() -> Iterator[Call]:
    """A deployment fails twelve times for the same reason; only the times in its log change."""
    for turn in range(12):
        now, then = clock(turn * 41), clock(turn * 41 + 2)
        text = f"2025-03-04T{now}Z INFO  reading chart\n2025-03-04T{then}Z ERROR values.yaml: image.tag is required\n"
        yield failed(bash("./deploy.sh staging", text))


@FAILING.shape("exact_repeat_error", SESSION, news=1)
def duration_in_error() -> Iterator[Call]:
    """A build fails twelve times at the same line; only its duration varies."""
    for turn in range(12):
        text = (
            "vite v5.1.4 building for production...\n"
            f"✓ 31 modules transformed in {412 + turn * 37 % 90}ms\n"
            "error: web/cart/Row.tsx:22:9: Expected '>' but found 'className'\n"
            f"Build failed after 1.{20 + turn * 13 % 71}s\n"
        )
        yield failed(Call("Bash", {"command": "npx vite build"}, text))


@FAILING.shape("exact_repeat_error", ORDERS, news=1)
def pid_in_error() -> Iterator[Call]:
    """A server fails to start twelve times because its port is taken; only its process number varies."""
    for turn in range(12):
        pid = 20117 + turn * 6
        text = (
            f"INFO:     Started server process [{pid}]\n"
            "ERROR:    [Errno 98] error while attempting to bind on ('127.0.0.1', 8000): address already in use\n"
            f"INFO:     Finished server process [{pid}]\n"
        )
        yield failed(bash("uvicorn orders.api:app --port 8000", text))


@FAILING.shape("exact_repeat_error", ORDERS, news=1)
def temporary_path_in_error() -> Iterator[Call]:
    """A package fails to build twelve times; only the build directory varies."""
    for turn in range(12):
        place = f"pip-install-{tag(turn, 8)}/psycopg2_{tag(turn + 30, 32)}"
        text = (
            "Collecting psycopg2\n  Preparing metadata (setup.py): finished with status 'error'\n"
            f"  running egg_info\n  writing /tmp/{place}/psycopg2.egg-info/PKG-INFO\n"
            "  Error: pg_config executable not found.\n"
        )
        yield failed(bash("pip install psycopg2", text))


@FAILING.shape("exact_repeat_error", DESK, news=1)
def request_id_in_error() -> Iterator[Call]:
    """A booking is rejected twelve times for the same reason; only the request id varies."""
    for turn in range(12):
        number = f"{tag(turn, 8)}-{tag(turn + 1, 4)}-4{tag(turn + 2, 3)}-a{tag(turn + 3, 3)}-{tag(turn + 4)}"
        body = {
            "error": {"code": "invalid_party_size", "message": "Party size must not exceed 4"},
            "request_id": number,
        }
        yield failed(Call("book_table", {"place": "linden", "time": "2025-05-16T19:00", "guests": 6}, body))


@FAILING.shape("exact_repeat_error", CLUSTER, news=1)
def attempt_counter_in_error() -> Iterator[Call]:
    """A login is refused twelve times; only the number of attempts grows."""
    for turn in range(1, 13):
        text = (
            f"attempt {turn}: connecting to queue:5672\nattempt {turn}: ACCESS_REFUSED - login refused for 'worker'\n"
        )
        yield failed(bash("rabbitmqadmin -H queue -u worker list queues", text))


@FAILING.shape("exact_repeat_error", ORDERS, news=1)
def edit_rejected() -> Iterator[Call]:
    """An edit is rejected twelve times because its text is not in the file."""
    answer = "String to replace not found in file.\nString: return round(amount, 2)"
    return rounds(12, failed(edit("src/orders/totals.py", "return round(amount, 2)", "return amount", answer)))


@FAILING.shape("ping_pong", ORDERS, news=2)
def two_edits_rejected_then_one() -> Iterator[Call]:
    """Two edits that do not fit are tried in turn, then one of them alone."""
    answer = "Found 2 matches of the string to replace, but expected 1. Provide more context."
    one = failed(edit("src/orders/api.py", "return order", "return order.public()", answer))
    two = failed(edit("src/orders/api.py", "    return order", "    return order.public()", answer))
    yield from rounds(6, one, two)
    yield from rounds(8, one)


@FAILING.shape("near_repeat_error", ORDERS, news=3)
def file_not_found() -> Iterator[Call]:
    """Fifteen paths are guessed in a folder that does not exist, as a listing would have shown."""
    for module in MODULES:
        path = f"/home/dev/orders/lib/{module}.py"
        yield failed(read(path, f"Error: ENOENT: no such file or directory, open '{path}'"))


@FAILING.shape("near_repeat_error", CLUSTER, news=3)
def permission_denied() -> Iterator[Call]:
    """Fifteen files are written to a folder without write permission."""
    for module in MODULES:
        path = f"/etc/shop/{module}.conf"
        args = {"path": path, "content": f"[{module}]\nlog = info\n"}
        yield failed(Call("write_file", args, f"PermissionError: [Errno 13] Permission denied: '{path}'"))


@FAILING.shape("near_repeat_error", DESK, news=3)
def unauthorized() -> Iterator[Call]:
    """Fifteen addresses of a service are fetched with an expired token."""
    for module in MODULES:
        text = 'HTTP 401 Unauthorized\n{"error": "token_expired", "message": "The access token has expired"}'
        yield failed(Call("web_fetch", {"url": f"https://erp.example/v2/{module}?limit=50"}, text))


@FAILING.shape("near_repeat_error", SESSION, news=4)
def network_unreachable() -> Iterator[Call]:
    """Various tools and hosts are tried without a network."""
    for turn, module in enumerate(MODULES):
        host = f"{module}.example"
        yield failed(
            (
                Call("WebFetch", {"url": f"https://{host}/docs", "prompt": "How?"}, f"{host}: Network is unreachable"),
                Call("Bash", {"command": f"curl -s https://{host}"}, f"curl: (7) {host}: Network is unreachable"),
                Call("Bash", {"command": f"git clone git@{host}:lib"}, f"ssh: {host} port 22: Network is unreachable"),
                Call("WebSearch", {"query": f"{module} price rounding"}, "Search failed: Network is unreachable"),
            )[turn % 4]
        )
    text = "npm error code ENETUNREACH\nnpm error network Network is unreachable\n"
    yield from rounds(4, failed(Call("Bash", {"command": "npm install decimal.js"}, text)))


@FAILING.shape("unknown_tool", ORDERS, news=1)
def unknown_tool() -> Iterator[Call]:
    """A tool that does not exist is called fifteen times, with varying arguments."""
    for module in MODULES:
        yield failed(Call("run_tests", {"target": f"tests/test_{module}.py"}, "Unknown tool: run_tests"))


@FAILING.shape("unknown_tool", DESK, news=3)
def invented_tools() -> Iterator[Call]:
    """Fifteen names of tools are made up, none of which exists."""
    for module in MODULES:
        yield failed(Call(f"linden_{module}", {"guests": 6}, f"Unknown tool: linden_{module}"))


@FAILING.shape("exact_repeat_error", CLUSTER, news=1)
def denied_command() -> Iterator[Call]:
    """The user declines a command, which is requested twelve times."""
    text = "Command declined by user: kubectl delete namespace shop"
    return rounds(12, failed(bash("kubectl delete namespace shop", text)))


@FAILING.shape("format_error", ORDERS, news=1)
def empty_command() -> Iterator[Call]:
    """An empty command is given fourteen times."""
    return rounds(14, failed(bash("", "Error: no command to run")))


@FAILING.shape("format_error", SESSION, news=1)
def missing_argument() -> Iterator[Call]:
    """A call without a required argument is rejected fourteen times."""
    text = "InputValidationError: Write failed due to the following issue:\nThe required parameter `content` is missing"
    return rounds(14, failed(Call("Write", {"file_path": "web/lib/price.ts"}, text)))


@FAILING.shape("outage", CLUSTER, news=3)
def outage_without_end() -> Iterator[Call]:
    """A service is down, and is tried forty times in a row."""
    text = (
        "HTTP/1.1 503 Service Unavailable\nRetry-After: 5\n\nupstream connect error or disconnect/reset before headers"
    )
    return rounds(40, failed(bash("curl -si https://registry.example/v2/", text)))
