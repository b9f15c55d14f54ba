"""The smallest worker: ``python -m ganger worker hello:app``, then ``python hello.py``."""

from __future__ import annotations

from ganger import App, Context, Fatal

app = App()


@app.job("email.send", queue="mail", max_attempts=8, timeout="30s")
async def send(to: str, template: str = "welcome", *, ctx: Context = Context.current) -> str:
    """Pretends to send a letter."""
    if "@" not in to:
        raise Fatal("not an address")
    ctx.progress(0.5, "rendered")
    return f"{template} sent to {to}"


if __name__ == "__main__":
    print(send.enqueue_sync("ada@example.com").wait(timeout=60))
