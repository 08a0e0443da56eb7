"""Runs that are stuck although no tool fails: every result has been seen before."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.runs import Call
from evaluation.synthetic.openings import CLUSTER, DESK, ORDERS, SESSION, TOTALS
from evaluation.synthetic.shapes import Table, bash, edit, failed, grep, read, rounds, tag, together

STUCK = Table("stuck")

VERBS = (
    "Fix",
    "Repair",
    "Correct",
    "Resolve",
    "Address",
    "Mend",
    "Handle",
    "Settle",
    "Remedy",
    "Rectify",
    "Solve",
    "Improve",
)

FAILURE = """\
============================= test session starts ==============================
collected 14 items

tests/test_totals.py ......F.......                                      [100%]

=================================== FAILURES ===================================
_____________________________ test_discount_rounds _____________________________

    def test_discount_rounds():
>       assert total([Line(Decimal("9.99"), 3)], Decimal("0.15")) == Decimal("25.47")
E       AssertionError: assert Decimal('25.48') == Decimal('25.47')

tests/test_totals.py:41: AssertionError
=========================== short test summary info ============================
FAILED tests/test_totals.py::test_discount_rounds - AssertionError: assert De...
"""


def _test(turn: int) -> Call:
    """Return the failing test run, in which only the duration varies."""
    last = f"========================= 1 failed, 13 passed in 0.{31 + turn * 7 % 19}s =========================\n"
    return failed(bash("pytest tests/test_totals.py", FAILURE + last))


@STUCK.shape("exact_repeat_success", ORDERS, news=1)
def same_call() -> Iterator[Call]:
    """A file is read twelve times although nothing has changed it."""
    text = "from decimal import Decimal\n\n\nclass Line:\n    price: Decimal\n    quantity: int = 1\n"
    return rounds(12, read("src/orders/models.py", text))


@STUCK.shape("exact_repeat_success", ORDERS, news=1)
def key_order() -> Iterator[Call]:
    """A search is made twelve times; only the order of its arguments varies."""
    args = [("pattern", "quantize"), ("path", "src"), ("include", "*.py"), ("limit", 20)]
    found = 'src/orders/totals.py:8:    return Decimal(amount * (1 - discount)).quantize(Decimal("0.01"))\n'
    for turn in range(12):
        order = args[turn % 4 :] + args[: turn % 4]
        yield Call("grep", dict(order if turn % 3 else reversed(order)), found)


@STUCK.shape("exact_repeat_success", DESK, news=1)
def transfer_again() -> Iterator[Call]:
    """The same payment is made twelve times, and arrives each time."""
    args = {"from": "DE-household", "to": "Linden Ltd", "amount": "120.00", "reference": "Deposit 16 May"}
    return rounds(12, Call("bank_transfer", args, "Transfer successful"))


@STUCK.shape("exact_repeat_success", DESK, news=1)
def message_again() -> Iterator[Call]:
    """A person gets the same message fourteen times; only the message id differs."""
    args = {"to": "ana@team.example", "text": "Table for six on Friday, 19:00, at the Linden. Does that suit you?"}
    for turn in range(14):
        yield Call("send_message", args, {"ok": True, "message_id": f"msg_{tag(turn)}", "to": "ana@team.example"})


@STUCK.shape("noop", DESK, news=1)
def scroll_at_the_end() -> Iterator[Call]:
    """The page has ended, and scrolling down shows the same last lines."""
    shown = "[41] Imprint\n[42] Privacy\n[43] © Linden Ltd\n--- end of page (scrollY 5120 of 5120) ---"
    return rounds(15, Call("browser_scroll_down", {"pixels": 800}, shown))


@STUCK.shape("polling", CLUSTER, news=1)
def poll_of_a_dead_job() -> Iterator[Call]:
    """A job was killed and writes nothing any more, as twenty polls show."""
    result = {"status": "running", "sessionId": "amber-fox", "output": "(no new output)", "tail": "step 3/9: migrate\n"}
    return rounds(20, Call("process", {"action": "poll", "sessionId": "amber-fox"}, result))


@STUCK.shape("noop", ORDERS, news=1)
def plan_reworded() -> Iterator[Call]:
    """The plan is reworded twelve times, but no step changes its status."""
    for verb in VERBS:
        plan = [
            {"step": f"{verb} the rounding of discounts", "status": "in_progress"},
            {"step": f"{verb} the test that covers it", "status": "pending"},
        ]
        yield Call("update_plan", {"explanation": f"Next: {verb.lower()} it.", "plan": plan}, "Plan updated")


@STUCK.shape("noop", SESSION, news=1)
def todos_reworded() -> Iterator[Call]:
    """The task list is reworded twelve times, but no task is started or completed."""
    answer = "Todos have been modified successfully. Ensure that you continue to use the todo list."
    for verb in VERBS:
        todos = [
            {"content": f"{verb} prices in Row.tsx", "status": "pending", "activeForm": f"{verb} (rows)"},
            {"content": f"{verb} the sum in Cart.tsx", "status": "pending", "activeForm": f"{verb} (sum)"},
        ]
        yield Call("TodoWrite", {"todos": todos}, answer)


@STUCK.shape("ping_pong", ORDERS, news=2)
def ping_pong() -> Iterator[Call]:
    """Two files are read in turn, ten times each, and neither changes."""
    test = "from orders.totals import total\n\n\ndef test_discount_rounds():\n    assert total(LINES, 0.15) == 25.47\n"
    return rounds(10, read("src/orders/totals.py", TOTALS), read("tests/test_totals.py", test))


@STUCK.shape("cycle", SESSION, news=3)
def three_cycle() -> Iterator[Call]:
    """A search, a read and a type check are repeated eight times with the results of the first round."""
    return rounds(
        8,
        Call("Grep", {"pattern": "formatPrice", "path": "web"}, "web/cart/Row.tsx:3\nweb/cart/Row.tsx:22"),
        Call("Read", {"file_path": "web/cart/Row.tsx", "offset": 18, "limit": 8}, "18\t<td>\n19\t  {formatPrice(p)}\n"),
        failed(
            Call("Bash", {"command": "npx tsc --noEmit"}, "web/cart/Row.tsx(22,8): error TS2304: Cannot find name.")
        ),
    )


@STUCK.shape("cycle", CLUSTER, news=4)
def four_cycle() -> Iterator[Call]:
    """Four views of a cluster in which nothing changes are repeated six times."""
    return rounds(
        6,
        bash(
            "kubectl get deploy worker -n shop",
            "NAME     READY   UP-TO-DATE   AVAILABLE\nworker   0/1     1            0\n",
        ),
        bash("kubectl get secret queue -n shop -o name", "secret/queue\n"),
        read("deploy/queue.yaml", "kind: Secret\nmetadata:\n  name: queue\ndata:\n  user: d29ya2Vy\n"),
        bash(
            "kubectl get events -n shop",
            "LAST SEEN   TYPE      REASON    OBJECT\n(x12)       Warning   BackOff   pod/worker\n",
        ),
    )


@STUCK.shape("cycle", DESK, news=5)
def five_cycle() -> Iterator[Call]:
    """A booking form is filled in five times and ends at the same fully booked evening."""
    return rounds(
        5,
        Call(
            "browser_navigate", {"url": "https://linden.example/book"}, "Book a table\n[1] Date\n[2] Time\n[3] Guests\n"
        ),
        Call("browser_type", {"ref": 1, "text": "2025-05-16"}, "Date: Friday, 16 May"),
        Call("browser_select", {"ref": 2, "value": "19:00"}, "Time: 19:00"),
        Call("browser_click", {"ref": 4}, "Sorry, no table for 6 at 19:00. Please choose another time."),
        Call("browser_click", {"ref": 7}, "Back to the start page"),
    )


@STUCK.shape("cycle", CLUSTER, news=7)
def seven_inspections() -> Iterator[Call]:
    """Seven commands that only read are repeated in rounds, with no action in between."""
    return rounds(
        4,
        bash("git status --short", " M deploy/worker.yaml\n"),
        bash("git diff --stat", " deploy/worker.yaml | 1 +\n 1 file changed, 1 insertion(+)\n"),
        bash("ls -1 deploy", "api.yaml\nchart\nqueue.yaml\nworker.yaml\n"),
        bash("cat deploy/chart/values.yaml", "image:\n  tag: 2.4.0\nqueue:\n  host: queue\n"),
        bash("kubectl config current-context", "staging\n"),
        bash("env | grep -c KUBE", "2\n"),
        bash("df -h / | tail -1", "/dev/sda1        80G   31G   46G  41% /\n"),
    )


@STUCK.shape("cycle", ORDERS, news=3)
def batch_again() -> Iterator[Call]:
    """Three parallel reads are repeated ten times."""
    for turn in range(10):
        yield from together(
            turn,
            read("src/orders/api.py", "from fastapi import APIRouter\n\nrouter = APIRouter(prefix='/orders')\n"),
            read(
                "src/orders/store.py", "import sqlite3\n\n\ndef connect():\n    return sqlite3.connect('orders.db')\n"
            ),
            grep("router", "src/orders/api.py:3:router = APIRouter(prefix='/orders')\n"),
        )


@STUCK.shape("exact_repeat_success", ORDERS, news=1)
def oversized_result() -> Iterator[Call]:
    """A log is printed twelve times and stored under a new name each time, with the same digest."""
    for turn in range(12):
        stub = (
            f"Output too large; saved to /tmp/out-{turn + 7}.txt. sha256: {tag(99, 64)}\nFirst lines:\nboot 1\nboot 2"
        )
        yield bash("cat logs/worker.log", stub)


@STUCK.shape("exact_repeat_error", ORDERS, news=1)
def shell_result_in_fields() -> Iterator[Call]:
    """A command fails in the same way fourteen times; only its time and process fields differ."""
    output = "make: *** No rule to make target 'invoice', needed by 'all'.  Stop.\n"
    for turn in range(14):
        result = {"status": "completed", "exitCode": 2, "output": output}
        yield bash("make all", {**result, "durationMs": 38 + turn * 11 % 23, "pid": 48213 + turn * 3})


@STUCK.shape("cycle", ORDERS, news=2)
def search_among_equals() -> Iterator[Call]:
    """A search is repeated, in varying order with two other calls that bring nothing new either."""
    calls = {
        "s": Call("search", {"query": "half-even rounding invoice"}, "docs/rounding.md\ndocs/faq.md\n2 results"),
        "a": read("docs/rounding.md", "# Rounding\n\nInvoices are rounded once, on the total.\n"),
        "b": bash("wc -l docs/*.md", "   3 docs/faq.md\n   3 docs/rounding.md\n   6 total\n"),
    }
    for letter in "sassbsabssasbbsassbasbs":
        yield calls[letter]


@STUCK.shape("edit_run_cycle", ORDERS, news=2)
def same_edit_same_failure() -> Iterator[Call]:
    """The same text is written to a file and the same test fails in the same way, ten times."""
    text = TOTALS.replace("amount * (1 - discount)", "amount - amount * discount")
    for turn in range(10):
        yield Call("write_file", {"path": "src/orders/totals.py", "content": text}, f"Wrote {len(text)} bytes")
        yield _test(turn)


@STUCK.shape("edit_run_cycle", ORDERS, news=3)
def new_edit_same_failure() -> Iterator[Call]:
    """The same test fails with the same numbers after each of fifteen different edits."""
    sums = "amount - amount * discount", "amount * Decimal(1 - discount)", "amount * 100 // 1 / 100"
    modes = "HALF_EVEN", "HALF_UP", "HALF_DOWN", "DOWN", "CEILING"
    old = "Decimal(amount * (1 - discount))"
    for turn in range(15):
        new = f"Decimal({sums[turn // 5]}).quantize(CENT, ROUND_{modes[turn % 5]})"
        yield edit("src/orders/totals.py", old, new)
        yield _test(turn)
        old = new


@STUCK.shape("exact_repeat_success", SESSION, news=1)
def across_a_compaction() -> Iterator[Call]:
    """The same listing is requested before and after a compaction."""
    call = Call("Bash", {"command": "ls -la dist"}, "total 8\n-rw-r--r-- 1 dev dev 512 Mar 3 09:12 index.html\n")
    yield from rounds(8, call)
    yield call._replace(compaction_before=True)
    yield from rounds(8, call)
