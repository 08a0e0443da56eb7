from tests.frameworks.players.openai_agents import play, play_streamed
from wheelspin.testing import check_adapter
from wheelspin import Guard

Guard.strict = True


def test_run():
    check_adapter(play)


def test_stream():
    check_adapter(play_streamed)
