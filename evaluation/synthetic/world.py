"""Good runs of agents that wait, ask, send and click: the responses look alike, but the work progresses."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.runs import Call
from evaluation.synthetic.openings import CLUSTER, DESK, ORDERS
from evaluation.synthetic.shapes import Table, bash, clock, failed, tag

WORLD = Table("healthy")

PEOPLE = "ana", "ben", "chloe", "dario", "emma", "farid"

POLL = {"action": "poll", "sessionId": "quiet-heron"}


@WORLD.shape("polling", CLUSTER)
def poll_with_change() -> Iterator[Call]:
    """A job is polled fourteen times and progresses each time."""
    for step in range(1, 14):
        output = f"[{step}/14] migrating table t_{tag(step, 4)}: {step * 1713} rows\n"
        yield Call("process", POLL, {"status": "running", "sessionId": "quiet-heron", "output": output})
    done = "[14/14] migrating table t_audit: 88 rows\nAll tables migrated.\n"
    yield Call("process", POLL, {"status": "completed", "exitCode": 0, "sessionId": "quiet-heron", "output": done})


@WORLD.shape("polling", ORDERS)
def poll_until_done() -> Iterator[Call]:
    """A build reports six times within a minute that it is running, and then that it is done."""
    yield bash("make image &", "[1] 20931\n")
    for _ in range(6):
        yield Call("process", POLL, {"status": "running", "sessionId": "quiet-heron", "output": ""})
    done = "Successfully built 5d3f0c1e\nSuccessfully tagged orders:1.4.1\n"
    yield Call("process", POLL, {"status": "completed", "exitCode": 0, "sessionId": "quiet-heron", "output": done})
    yield bash("docker run --rm orders:1.4.1 --version", "orders 1.4.1\n")


@WORLD.shape("flaky", CLUSTER)
def down_for_a_moment() -> Iterator[Call]:
    """A registry answers 503 three times, and the fourth try works."""
    for _ in range(3):
        text = "error pulling image: received unexpected HTTP status: 503 Service Unavailable\n"
        yield failed(bash("docker pull registry.example/worker:2.4.0", text))
    digest = f"2.4.0: Pulling from worker\nDigest: sha256:{tag(3, 64)}\nStatus: Downloaded newer image\n"
    yield bash("docker pull registry.example/worker:2.4.0", digest)
    yield bash("kubectl rollout status deploy/worker -n shop", 'deployment "worker" successfully rolled out\n')


@WORLD.shape("flaky", DESK)
def backing_off() -> Iterator[Call]:
    """A service asks to wait four times, with growing pauses, and then responds."""
    url = "https://api.linden.example/tables?day=2025-05-16"
    for power in range(4):
        text = 'HTTP 429 Too Many Requests\n{"error": "rate_limited", "message": "Slow down"}'
        yield failed(Call("web_fetch", {"url": url}, text))
        yield Call("sleep", {"seconds": 5 * 2**power}, f"Slept for {5 * 2**power} seconds")
    yield Call("web_fetch", {"url": url}, '{"tables": [{"id": 4, "seats": 6, "free": ["18:30", "20:00"]}]}')


@WORLD.shape("enumeration", DESK)
def tables_one_by_one() -> Iterator[Call]:
    """Eight tables, whose ids differ in one digit, are looked up, and all of them are free."""
    for number in range(1, 9):
        yield Call("check_table", {"id": f"T-204{number}", "day": "2025-05-16"}, "available")


@WORLD.shape("same_question", DESK)
def question_of_the_user() -> Iterator[Call]:
    """The user asks for the weather in three turns, and the forecast has not changed."""
    forecast = "Friday, 16 May\n  morning 12 °C, cloudy\n  evening 17 °C, dry"
    for _ in range(3):
        yield Call("weather", {"place": "Lyon", "day": "2025-05-16"}, forecast, user_before=True)


@WORLD.shape("sending", DESK)
def different_messages() -> Iterator[Call]:
    """One person is told six different things, each acknowledged in the same words."""
    texts = (
        "The Linden has a table for six on Friday.",
        "It is free at 18:30 or at 20:00.",
        "The menu: https://linden.example/menu",
        "There are four dishes without fish.",
        "They ask for a deposit of 120 euros.",
        "Shall I take 20:00?",
    )
    for text in texts:
        yield Call("send_message", {"to": "ana@team.example", "text": text}, {"ok": True})


@WORLD.shape("sending", DESK)
def same_text_to_many() -> Iterator[Call]:
    """Six people get the same invitation."""
    for name in PEOPLE:
        args = {"to": f"{name}@team.example", "text": "Dinner on Friday, 20:00, at the Linden. Will you come?"}
        yield Call("send_message", args, {"ok": True})


@WORLD.shape("plan_progress", ORDERS)
def plan_that_moves() -> Iterator[Call]:
    """The plan is rewritten after each piece of work, with one more completed step."""
    steps = "read the code", "write a test", "round once", "run the tests", "write the changelog", "commit"
    for done in range(len(steps) + 1):
        plan = [
            {"step": step, "status": "completed" if n < done else "in_progress" if n == done else "pending"}
            for n, step in enumerate(steps)
        ]
        yield Call("update_plan", {"plan": plan}, "Plan updated")
        if done < len(steps):
            yield bash(f"make step-{done}", f"{steps[done]}: ok\n")


@WORLD.shape("heartbeat", DESK)
def heartbeat() -> Iterator[Call]:
    """The host wakes the agent twelve times with a user message, and there is nothing to do."""
    for _ in range(12):
        text = "# Heartbeat\n\n- If Ana has answered, book the table.\n- Else say HEARTBEAT_OK.\n"
        yield Call("read_file", {"path": "HEARTBEAT.md"}, text, user_before=True)


@WORLD.shape("varied_commands", DESK)
def clicks_on_different_elements() -> Iterator[Call]:
    """Ten boxes of a form are ticked, and every click is acknowledged in the same words."""
    for ref in range(11, 21):
        yield Call("browser_click", {"ref": ref}, {"ok": True})


@WORLD.shape("varied_commands", DESK)
def rows_one_by_one() -> Iterator[Call]:
    """Fourteen rows of a table in a page are filled by one script each, which returns 1 for the row it found."""
    for row in range(14):
        script = f"(() => {{ rows[{row}].querySelector('input').value = '{tag(row, 5)}'; return 1 }})()"
        yield Call("browser_evaluate", {"script": script}, 1)


@WORLD.shape("polling", CLUSTER)
def sleep_between_polls() -> Iterator[Call]:
    """A rollout is checked every half minute and progresses."""
    for ready in range(9):
        yield bash("sleep 30")
        text = f"NAME     READY   UP-TO-DATE   AVAILABLE\nworker   {ready}/8     8            {ready}\n"
        yield bash("kubectl get deploy worker -n shop", text)


@WORLD.shape("looking", DESK)
def screenshots() -> Iterator[Call]:
    """The same call takes ten screenshots of a page that changes each time."""
    for number in range(10):
        image = {
            "type": "image",
            "media_type": "image/png",
            "data": f"iVBORw0KGgo{tag(number, 64)}{tag(number + 10, 64)}",
        }
        yield Call("browser_screenshot", {"full_page": False}, {"content": [image]})


@WORLD.shape("paging", DESK)
def scrolling_through() -> Iterator[Call]:
    """A long page is scrolled down in equal steps, and every step shows new lines."""
    for step in range(12):
        lines = (f"[{step * 4 + n}] Review by guest {tag(step * 4 + n, 5)}: {3 + n % 3} of 5" for n in range(4))
        yield Call("browser_scroll_down", {"pixels": 800}, "\n".join(lines))


@WORLD.shape("polling", CLUSTER)
def tail_of_a_live_log() -> Iterator[Call]:
    """The end of a log is read eight times while a job adds new lines."""
    for step in range(8):
        lines = (f"{clock(step * 40 + n * 9)} INFO imported batch {step * 4 + n} of 32\n" for n in range(4))
        yield bash("tail -n 4 /var/log/shop/import.log", "".join(lines))


@WORLD.shape("same_question", DESK)
def calendar_before_each_entry() -> Iterator[Call]:
    """The calendar is listed before each of five new entries, and shows the earlier ones."""
    held = ["09:30 stand-up", "13:00 lunch with Ana", "16:00 review"]
    for hour, name in enumerate(PEOPLE[1:], start=17):
        yield Call("calendar_list", {"day": "2025-05-16"}, "\n".join(held))
        yield Call("calendar_add", {"day": "2025-05-16", "at": f"{hour}:00", "title": f"Call {name}"}, "Added")
        held.append(f"{hour}:00 Call {name}")
