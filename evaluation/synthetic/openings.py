"""The openings of synthetic runs: a few calls of good work on four different tasks."""

from __future__ import annotations

from evaluation.runs import Call
from evaluation.synthetic.shapes import bash, edit, grep, read

__all__ = ["CLUSTER", "DESK", "ORDERS", "SESSION", "TOTALS"]

TOTALS = """\
from decimal import Decimal

from orders.models import Line


def total(lines: list[Line], discount: float = 0) -> Decimal:
    amount = sum(line.price * line.quantity for line in lines)
    return Decimal(amount * (1 - discount)).quantize(Decimal("0.01"))
"""

ORDERS: tuple[Call, ...] = (
    bash("ls", "Makefile\nREADME.md\npyproject.toml\nsrc\ntests\n"),
    read("README.md", "# orders\n\nTakes orders, writes invoices.\n\n    make test\n    make run\n"),
    grep("def total", "src/orders/totals.py:6:def total(lines: list[Line], discount: float = 0) -> Decimal:\n"),
    read("src/orders/totals.py", TOTALS),
    bash("git log --oneline -3", "4e1f9a2 round invoices once\nb07c3dd add discounts\n91ac004 split models\n"),
    edit("src/orders/models.py", "quantity: int", "quantity: int = 1"),
    bash("python -m compileall -q src"),
)
"""A Python service with a wrong sum in its invoices."""

SESSION: tuple[Call, ...] = (
    Call("Glob", {"pattern": "web/**/*.tsx"}, "web/App.tsx\nweb/cart/Cart.tsx\nweb/cart/Row.tsx\nweb/lib/money.ts"),
    Call("Read", {"file_path": "web/cart/Cart.tsx"}, "1\timport { Row } from './Row'\n2\texport function Cart() {\n"),
    Call("Read", {"file_path": "web/lib/money.ts"}, "1\texport const money = (c: number) => (c / 100).toFixed(2)\n"),
    Call("Grep", {"pattern": "money\\(", "path": "web"}, "web/cart/Row.tsx:14\nweb/cart/Cart.tsx:31"),
    Call("Bash", {"command": "npm run build"}, "> shop-web@2.4.0 build\n> vite build\n\n✓ 214 modules transformed.\n"),
    Call(
        "Edit",
        {"file_path": "web/lib/money.ts", "old_string": "(c / 100)", "new_string": "(Math.round(c) / 100)"},
        "The file web/lib/money.ts has been updated successfully.",
    ),
)
"""A web shop whose prices show half cents."""

_PODS = """\
NAME                      READY   STATUS             RESTARTS      AGE
api-6c9d7f5b8-2xk4q       1/1     Running            0             3d
worker-7b5f9c6d4-mm8zt    0/1     CrashLoopBackOff   12 (2m ago)   41m
"""

CLUSTER: tuple[Call, ...] = (
    bash("kubectl get pods -n shop", _PODS),
    bash(
        "kubectl logs -n shop deploy/worker --tail=3", "connecting to queue:5672\nlogin refused for 'worker'\nexit 1\n"
    ),
    read("deploy/worker.yaml", "kind: Deployment\nmetadata:\n  name: worker\nspec:\n  replicas: 1\n"),
    grep("QUEUE_PASSWORD", "deploy/api.yaml:22:        - name: QUEUE_PASSWORD\n", "deploy"),
    edit("deploy/worker.yaml", "  replicas: 1", "  replicas: 1\n  revisionHistoryLimit: 3"),
    bash(
        "helm lint deploy/chart",
        "==> Linting deploy/chart\n[INFO] Chart.yaml: icon is recommended\n1 chart(s) linted\n",
    ),
)
"""A worker that does not come up."""

DESK: tuple[Call, ...] = (
    Call("memory_search", {"query": "team dinner"}, [{"note": "Ana eats no fish", "day": "2025-02-03"}]),
    Call("calendar_list", {"day": "2025-05-16"}, "09:30 stand-up\n13:00 lunch with Ana\n16:00 review\n"),
    Call(
        "web_fetch",
        {"url": "https://linden.example/menu"},
        "Menu\n\nStarters\n  Soup of the day 6.50\nMains\n  Risotto 14\n",
    ),
    Call("browser_navigate", {"url": "https://linden.example/book"}, "Book a table\n[1] Date\n[2] Time\n[3] Guests\n"),
    Call("browser_type", {"ref": 1, "text": "2025-05-16"}, "Date: Friday, 16 May"),
    Call("browser_type", {"ref": 3, "text": "6"}, "Guests: 6\nLarge parties: tables 4, 9"),
)
"""An assistant that books a dinner."""
