"""Good runs of coding agents that repeat themselves for a reason."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.runs import Call
from evaluation.synthetic.openings import CLUSTER, ORDERS, SESSION, TOTALS
from evaluation.synthetic.shapes import Table, bash, edit, failed, grep, read, tag, together

HEALTHY = Table("healthy")

NAMES = (
    "address",
    "basket",
    "coupon",
    "delivery",
    "email",
    "invoice",
    "label",
    "offer",
    "payment",
    "quote",
    "refund",
    "stock",
)

PASSED = "All checks passed!\n"


@HEALTHY.shape("paging", ORDERS)
def paging() -> Iterator[Call]:
    """A long file is read in twelve different parts."""
    for first in range(1, 1200, 100):
        lines = (f"{first + n:>5}\tdef handle_{tag(first + n, 6)}(order): ..." for n in range(6))
        yield read("src/orders/handlers.py", "\n".join(lines), offset=first, limit=100)


@HEALTHY.shape("batch_edits", SESSION)
def batch_of_edits() -> Iterator[Call]:
    """Twelve places of a file are edited, all acknowledged in the same words."""
    for name in NAMES:
        args = {"file_path": "web/lib/api.ts", "old_string": f"get('/{name}')", "new_string": f"fetch{name.title()}()"}
        yield Call("Edit", args, "The file web/lib/api.ts has been updated successfully.")


@HEALTHY.shape("batch_edits", ORDERS)
def batch_of_edits_in_parallel() -> Iterator[Call]:
    """Twelve edits of a file in three messages are all acknowledged in the same words."""
    for number, name in enumerate(NAMES):
        yield from together(number // 4, edit("src/orders/forms.py", f"{name} = str", f"{name} = Text({number + 20})"))


@HEALTHY.shape("edit_run_progress", ORDERS)
def edit_and_test_with_progress() -> Iterator[Call]:
    """The same tests are run after every edit, and fewer of them fail each time."""
    for left in range(8, -1, -1):
        yield edit("src/orders/forms.py", f"def clean_{NAMES[left]}(): pass", f"def clean_{NAMES[left]}(): strip()")
        lines = "".join(f"FAILED tests/test_forms.py::test_{name} - AssertionError\n" for name in NAMES[:left])
        test = bash("pytest -q tests/test_forms.py", f"{lines}{left} failed, {12 - left} passed in 0.4{left}s\n")
        yield failed(test) if left else test


@HEALTHY.shape("recheck_after_edit", ORDERS)
def check_that_passes_thirty_times() -> Iterator[Call]:
    """A long refactoring is checked after each of its thirty steps, and the checks pass."""
    for step in range(30):
        name = f"{NAMES[step % 12]}_{step // 12}"
        yield edit(f"src/orders/rules/{NAMES[step % 12]}.py", f"def {name}(o):", f"def {name}(order: Order) -> bool:")
        yield bash("ruff check src", PASSED)


@HEALTHY.shape("reread_after_edit", ORDERS)
def reread_after_edits() -> Iterator[Call]:
    """A file is read after each edit, and has changed each time."""
    text = TOTALS
    for name in NAMES[:8]:
        old, new = "from decimal", f"from orders.{name} import {name}\nfrom decimal"
        yield edit("src/orders/totals.py", old, new)
        text = text.replace(old, new)
        yield read("src/orders/totals.py", text)


@HEALTHY.shape("reread_later", ORDERS)
def reread_now_and_then() -> Iterator[Call]:
    """A central file is read four times, with much other work in between."""
    for part in range(4):
        yield read("src/orders/types.py", "Order = NewType('Order', dict)\nMoney = NewType('Money', int)\n")
        for name in NAMES[part * 3 : part * 3 + 3]:
            yield grep(f"def {name}", f"src/orders/{name}.py:{len(name) * 3}:def {name}(order):\n")
            yield read(f"src/orders/{name}.py", f"def {name}(order):\n    return order['{name}']\n")
            yield edit(f"src/orders/{name}.py", f"def {name}(order):", f"def {name}(order: Order) -> Money:")


@HEALTHY.shape("sibling_errors", SESSION)
def siblings_of_a_failed_call() -> Iterator[Call]:
    """Nine parallel reads fail because the first one did, and succeed when they are repeated."""
    reads = [
        Call("Read", {"file_path": f"web/{name}/index.ts"}, f"1\texport * from './{name}'\n") for name in NAMES[:9]
    ]
    errors = [failed(call._replace(result="Sibling tool call errored")) for call in reads[1:]]
    missing = Call("Read", {"file_path": "web/address.ts"}, "File does not exist. Did you mean web/address/index.ts?")
    yield from together(0, failed(missing), *errors)
    yield from together(1, *reads)


@HEALTHY.shape("enumeration", ORDERS)
def searches_that_find_nothing() -> Iterator[Call]:
    """Nine words are searched for to make sure that nothing uses them, and nothing does."""
    for name in NAMES[:9]:
        yield grep(f"legacy_{name}", "No matches found", ".")


@HEALTHY.shape("exploration", ())
def opening_exploration() -> Iterator[Call]:
    """A task begins with five parallel reads, then reads what they refer to."""
    yield from together(
        0,
        read("README.md", "# orders\n\nTakes orders, writes invoices.\n"),
        read("pyproject.toml", '[project]\nname = "orders"\nversion = "1.4.0"\n'),
        read("Makefile", "test:\n\tpytest -q\n"),
        read("src/orders/__init__.py", ""),
        read("tests/__init__.py", ""),
    )
    yield bash("ls src/orders", "__init__.py\napi.py\nmodels.py\nstore.py\ntotals.py\n")
    yield read("src/orders/totals.py", TOTALS)
    yield bash("pytest -q", "..............\n14 passed in 0.52s\n")


@HEALTHY.shape("retry_with_change", CLUSTER)
def retry_with_change() -> Iterator[Call]:
    """Five attempts fail, each adapted to the previous error, and the sixth succeeds."""
    base = "docker run --rm -p 5672:5672 rabbitmq"
    yield failed(bash(base, "docker: permission denied while trying to connect to the Docker daemon socket.\n"))
    yield failed(bash(f"sudo {base}", "docker: Error response from daemon: Ports are not available: 5672 is in use.\n"))
    base = "sudo docker run --rm -p 5673:5672"
    yield failed(bash(f"{base} rabbitmq:3.99", "Unable to find image locally\nmanifest for rabbitmq:3.99 not found\n"))
    yield failed(bash(f"{base} -v ./q.conf:/etc/q.conf rabbitmq:3.13", "invalid mount: ./q.conf is a directory\n"))
    yield failed(bash(f"{base} -v ./q/q.conf:/etc/q.conf rabbitmq:3.13", "q.conf: line 4: unknown key 'default_usr'\n"))
    yield bash(f"sed -i s/usr/user/ q/q.conf && {base} -d rabbitmq:3.13", f"{tag(7, 64)}\n")


@HEALTHY.shape("silent_success", ORDERS)
def silent_commands() -> Iterator[Call]:
    """Folders and files are created with commands that print nothing."""
    for name in NAMES[:6]:
        yield bash(f"mkdir -p src/orders/{name}")
        yield bash(f"touch src/orders/{name}/__init__.py")


@HEALTHY.shape("recheck_after_edit", SESSION)
def lint_now_and_then() -> Iterator[Call]:
    """A linter reports the same about one file five times while the work goes on elsewhere."""
    warning = "web/legacy/print.js\n  12:3  warning  Unexpected console statement  no-console\n\n✖ 1 problem\n"
    for part in range(5):
        for name in NAMES[part * 2 : part * 2 + 2]:
            args = {"file_path": f"web/{name}.tsx", "content": f"export const {name.title()} = () => <p>{name}</p>\n"}
            yield Call("Write", args, f"File created successfully at: web/{name}.tsx")
        yield Call("Bash", {"command": "npm run lint"}, warning)


@HEALTHY.shape("recheck", ORDERS)
def status_before_each_commit() -> Iterator[Call]:
    """A commit is prepared six times in the same steps, with a different file each time."""
    for number, name in enumerate(NAMES[:6]):
        yield edit(f"src/orders/{name}.py", "import *", f"import {name}")
        yield bash("git status --short", f" M src/orders/{name}.py\n")
        yield bash("git add -A")
        yield bash(f"git commit -qm 'name what {name} imports'")
        yield bash("git log --oneline -1", f"{tag(number, 7)} name what {name} imports\n")


@HEALTHY.shape("recheck", ORDERS)
def is_it_flaky() -> Iterator[Call]:
    """The tests are run three times on purpose, to check that they always pass."""
    yield edit("tests/test_queue.py", "time.sleep(1)", "event.wait(timeout=5)")
    for seconds in ("3.12", "3.47", "2.98"):
        yield bash("pytest -q tests/test_queue.py", f"........................\n24 passed in {seconds}s\n")
    yield bash("git commit -qam 'wait for the event, not for a second'")


@HEALTHY.shape("varied_commands", CLUSTER)
def matrix_of_benchmarks() -> Iterator[Call]:
    """Sixteen combinations of parameters are measured, and each run reports only that it is done."""
    for workers in (1, 2, 4, 8):
        for batch in (16, 32, 64, 128):
            yield bash(f"./bench.sh --workers {workers} --batch {batch} >> results.csv && echo done", "done\n")
    yield bash("sort -t, -k3 -n results.csv | tail -2", "8,64,1893\n8,128,1911\n")


@HEALTHY.shape("undo_redo", ORDERS)
def undo_and_redo() -> Iterator[Call]:
    """An edit is reverted to check that the test fails without it, and made again."""
    plain, exact = "discount: float = 0", 'discount: Decimal = Decimal("0")'
    test = "pytest -q tests/test_totals.py"
    red = "FAILED tests/test_totals.py::test_discount_rounds - AssertionError\n1 failed, 13 passed in 0.29s\n"
    yield edit("src/orders/totals.py", plain, exact)
    yield bash(test, "14 passed in 0.31s\n")
    yield edit("src/orders/totals.py", exact, plain)
    yield failed(bash(test, red))
    yield edit("src/orders/totals.py", plain, exact)
    yield bash(test, "14 passed in 0.30s\n")


@HEALTHY.shape("thinking", SESSION)
def thinking_between() -> Iterator[Call]:
    """A tool that only records a thought and returns nothing is called between actions."""
    for name in NAMES[:10]:
        yield Call("think", {"thought": f"The {name} page takes its price from the cart. Does it round by itself?"}, "")
        yield Call("Grep", {"pattern": "toFixed", "path": f"web/{name}"}, f"web/{name}/index.tsx:{len(name) + 9}")


@HEALTHY.shape("reread_for_user", ORDERS)
def reread_after_user_turn() -> Iterator[Call]:
    """The user returns three times with a new request, and the file is read again each time."""
    wishes = "quantize", "discount", "quantity"
    for wish in wishes:
        yield read("src/orders/totals.py", TOTALS)._replace(user_before=True)
        yield grep(
            wish, f"src/orders/totals.py:{len(wish) - 1}: {wish}\ntests/test_totals.py:{len(wish) + 12}: {wish}\n"
        )


@HEALTHY.shape("varied_commands", ORDERS)
def bisection() -> Iterator[Call]:
    """A test is run on seven commits to find the one that broke it."""
    test = bash("pytest -q tests/test_totals.py::test_discount_rounds", "1 passed in 0.21s\n")
    broken = failed(test._replace(result="E   assert Decimal('25.48') == Decimal('25.47')\n1 failed in 0.24s\n"))
    for step, word in enumerate(("good", "bad", "good", "good", "bad", "bad")):
        left = (64 >> step) - 1
        yield test if word == "good" else broken
        answer = f"Bisecting: {left} revisions left to test after this\n[{tag(step, 40)}] change {left}\n"
        yield bash(f"git bisect {word}", answer)
    yield test
    yield bash("git bisect good", f"{tag(4, 40)} is the first bad commit\n")


@HEALTHY.shape("reread_after_compaction", SESSION)
def reread_after_compaction() -> Iterator[Call]:
    """After a compaction the four current files are read again, and the work goes on."""
    reads = [
        Call("Read", {"file_path": f"web/{name}.tsx"}, f"1\texport function {name.title()}() {{\n")
        for name in NAMES[:4]
    ]
    yield from reads
    yield reads[0]._replace(compaction_before=True)
    yield from reads[1:]
    for name in NAMES[:4]:
        args = {
            "file_path": f"web/{name}.tsx",
            "old_string": f"{name.title()}()",
            "new_string": f"{name.title()}Page()",
        }
        yield Call("Edit", args, f"The file web/{name}.tsx has been updated successfully.")
