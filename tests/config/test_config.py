"""Configuration: a file becomes the settings of each agent, and every fault of it is told at once (SPEC 2)."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wheelspin import Settings, load_config
from wheelspin.config import config_from, key_of, schema
from wheelspin.config._positions import KeyPositions
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.presets import NUMBERS
from wheelspin.errors import ConfigError

OPENCLAW = """
// A configuration of a whole gateway: most of it is none of ours.
{
  gateway: { mode: 'local', port: 18789, auth: { token: "secret \\" quoted" } },
  models: { providers: { x: { models: [{ id: 'm', cost: { input: .5 } }] } } },
  tools: {
    profile: "coding", /* other keys of the block stay */ exec: { host: 'sandbox' },
    loopDetection: {
      enabled: true,
      historySize: 40.0, // a whole number
      detectors: { pingPong: false, },
      postCompactionGuard: { windowSize: 4 },
    },
  },
  agents: {
    defaults: { model: 'm' },
    list: [
      { id: 'main', default: true },
      { id: ' Safe-Runner ', tools: { allow: ['*'], loopDetection: {
        warningThreshold: 8, criticalThreshold: 16, detectors: { genericRepeat: false }, postCompactionGuard: {} } } },
      { id: 'off', tools: { loopDetection: { enabled: false } } },
    ],
    entries: { newer: { tools: { loopDetection: { enabled: false, warningThreshold: 3 } } } },
  },
  channels: { telegram: { enabled: true } },
}
"""


def _file(folder: Path, text: str | bytes) -> Path:
    path = folder / "openclaw.json5"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _fails(folder: Path, text: str | bytes) -> str:
    with pytest.raises(ConfigError) as failure:
        load_config(_file(folder, text))
    return failure.value.diagnostics()


def _block(block: dict[str, Any]) -> dict[str, Any]:
    return {"tools": {"loopDetection": block}}


class TestOverlay:
    def test_a_whole_openclaw_configuration_is_read_as_it_is(self, tmp_path: Path) -> None:
        """Only our blocks count; comments, trailing commas and the keys of others are no matter."""
        config = load_config(_file(tmp_path, OPENCLAW))
        settings = config.for_agent()

        assert config.agents == ("safe-runner", "off", "newer")
        assert (settings.enabled, settings.history_size, settings.window_size) == (True, 40, 4)
        assert settings.switched_off == {"ping_pong"}

    def test_an_agent_lies_over_the_global_block_field_by_field(self, tmp_path: Path) -> None:
        """Also inside `detectors` and `postCompactionGuard`."""
        settings = load_config(_file(tmp_path, OPENCLAW)).for_agent("safe-runner")

        assert (settings.enabled, settings.history_size) == (True, 40)
        assert (settings.warning_threshold, settings.critical_threshold) == (8, 16)
        assert settings.switched_off == {"ping_pong", "generic_repeat", "immediate_repeat"}
        assert settings.window_size == 4

    @pytest.mark.parametrize("name", ["safe-runner", "SAFE-RUNNER", "  Safe-Runner\t"])
    def test_agent_ids_are_compared_trimmed_and_lower_cased(self, tmp_path: Path, name: str) -> None:
        """However the host writes it."""
        assert load_config(_file(tmp_path, OPENCLAW)).for_agent(name).warning_threshold == 8

    @pytest.mark.parametrize("name", [None, "", "main", "nobody"])
    def test_what_an_agent_does_not_name_is_the_global_value(self, tmp_path: Path, name: str | None) -> None:
        """An agent without a block gets the global one."""
        config = load_config(_file(tmp_path, OPENCLAW))

        assert config.for_agent(name) == config.for_agent()

    def test_an_agent_switches_against_the_global_switch(self) -> None:
        """Both ways."""
        agents = {"list": [{"id": "on", **_block({"enabled": True})}, {"id": "off", **_block({"enabled": False})}]}
        for switch in (True, False):
            config = config_from(_block({"enabled": switch}) | {"agents": agents})
            assert [config.for_agent(name).enabled for name in ("on", "off", "x")] == [True, False, switch]

    def test_an_entry_by_id_lies_over_one_in_the_list(self) -> None:
        """The newer form wins, field by field."""
        agents = {
            "list": [{"id": "A", **_block({"warningThreshold": 3, "historySize": 50})}],
            "entries": {"a": _block({"warningThreshold": 4})},
        }
        settings = config_from({"agents": agents}).for_agent("a")

        assert (settings.warning_threshold, settings.history_size) == (4, 50)

    def test_order_is_put_right_after_the_overlay(self) -> None:
        """An agent that raises one threshold raises those above it."""
        agents = {"list": [{"id": "a", **_block({"warningThreshold": 25})}]}
        settings = config_from({"agents": agents}).for_agent("a")

        assert (settings.critical_threshold, settings.global_circuit_breaker_threshold) == (26, 30)

    def test_an_empty_block_sets_nothing(self) -> None:
        """`{}` is the defaults, with nothing enabled."""
        assert config_from(_block({})).for_agent() == Settings()
        assert config_from({}).for_agent() == Settings()

    @given(
        st.dictionaries(
            st.sampled_from([key_of(name) for name in NUMBERS["standard"] if name != "window_size"]), st.integers(1, 99)
        )
    )
    def test_every_number_that_is_given_is_taken_or_raised(self, block: dict[str, int]) -> None:
        """What a file sets is what holds, but for an order that has to be put right."""
        resolution = config_from(_block(block)).resolve()

        for name in NUMBERS["standard"]:
            key = key_of(name)
            if key in block:
                value = getattr(resolution.settings, name)
                assert value == block[key] or (value > block[key] and resolution.origins[key] == "raised")


class TestOrigins:
    def test_each_value_says_where_it_comes_from(self, tmp_path: Path) -> None:
        """default, preset, global, agent or raised."""
        origins = load_config(_file(tmp_path, OPENCLAW)).resolve("newer").origins

        assert origins["enabled"] == "agent"
        assert origins["historySize"] == "global"
        assert origins["criticalThreshold"] == "default"
        assert {key for key in origins if not re.fullmatch(r"detectors\.\w+\.\w+", key)} == {
            *("enabled", "preset", "mode", *map(key_of, NUMBERS["standard"])),
            *(key_of(detector.name) for detector in DETECTORS if detector.can_switch),
            *("infrastructureFailures.warningThreshold", "infrastructureFailures.criticalThreshold"),
        }

    def test_what_a_preset_brings_says_so(self) -> None:
        """Also a threshold of one detector alone; what the file sets beside it is the file's."""
        block = {"preset": "early", "warningThreshold": 9, "detectors": {"stagnation": {"criticalThreshold": 7}}}
        origins = config_from(_block(block)).resolve().origins

        assert (origins["preset"], origins["warningThreshold"], origins["historySize"]) == (
            "global",
            "global",
            "default",
        )
        assert (origins["criticalThreshold"], origins["detectors.immediateRepeat.criticalThreshold"]) == (
            "preset",
            "preset",
        )
        assert origins["detectors.stagnation.criticalThreshold"] == "global"

    def test_a_raised_value_says_so(self) -> None:
        """Also where it was a default that had to give way."""
        origins = config_from(_block({"warningThreshold": 20})).resolve().origins

        assert (origins["warningThreshold"], origins["criticalThreshold"]) == ("global", "raised")

    def test_notices_name_the_key_of_the_file(self) -> None:
        """What is raised, what is dead, and that a file sets nothing."""
        dead = "can never be reached with 15 calls kept (history size)"
        assert config_from(_block({"historySize": 15, "postCompactionGuard": {"windowSize": 1}})).resolve().notices == (
            "`postCompactionGuard.windowSize` raised from 1 to 2: one call cannot show a repeat",
            f"`criticalThreshold` 20 {dead}: no repeated call can be blocked",
            f"`globalCircuitBreakerThreshold` 30 {dead}: only a row of blocked calls can end a run",
        )
        assert config_from({"gateway": {}}).resolve().notices == (
            "the file has no `tools.loopDetection` block: the defaults hold",
        )


FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "an unknown key": ({"enabeld": True}, "`tools.loopDetection.enabeld`", "did you mean `enabled`?"),
    "an unknown key in a block": ({"detectors": {"pingpong": True}}, "detectors.pingpong", "did you mean `pingPong`?"),
    "an unknown key of the window": (
        {"postCompactionGuard": {"window": 3}},
        "postCompactionGuard.window",
        "windowSize",
    ),
    "a key with a tab": ({"historySize\t": 3}, r"'historySize\t'", "did you mean `historySize`?"),
    "a text for a switch": ({"enabled": "true"}, 'found "true"', "expected true or false"),
    "a number for a switch": ({"detectors": {"pingPong": 1}}, "found 1", "expected true, false or an object"),
    "nothing for a switch": ({"enabled": None}, "found null", "expected true or false"),
    "a text for a number": ({"historySize": "30"}, 'found "30"', "expected a whole number of 1 or more"),
    "a switch for a number": ({"historySize": True}, "found true", "expected a whole number of 1 or more"),
    "a broken number": ({"warningThreshold": 2.5}, "found 2.5", "expected a whole number of 1 or more"),
    "zero": ({"criticalThreshold": 0}, "found 0", "expected a whole number of 1 or more"),
    "a negative number": ({"unknownToolThreshold": -3}, "found -3", "expected a whole number of 1 or more"),
    "an endless number": ({"historySize": float("inf")}, "found Infinity", "expected a whole number of 1 or more"),
    "a list for a block": ({"detectors": []}, "found []", "expected an object"),
    "a number for a block": ({"postCompactionGuard": 3}, "found 3", "expected an object"),
}


class TestFaults:
    @pytest.mark.parametrize(("block", "found", "expected"), FAULTS.values(), ids=FAULTS.keys())
    def test_a_fault_says_where_it_is_what_was_found_and_what_is_expected(
        self, block: dict[str, Any], found: str, expected: str
    ) -> None:
        """A fault is an error, never a silent default; in an agent's block as in the global one."""
        for value, place in (
            (_block(block), "tools.loopDetection"),
            ({"agents": {"list": [{"id": "a", **_block(block)}]}}, "agents.list[0].tools.loopDetection"),
            ({"agents": {"entries": {"a": _block(block)}}}, "agents.entries.a.tools.loopDetection"),
        ):
            with pytest.raises(ConfigError) as failure:
                config_from(value, "my.json5")
            text = failure.value.diagnostics()
            assert text.startswith("my.json5: ")
            assert place in text
            assert found.replace("`tools.loopDetection.", "").strip("`") in text
            assert expected in text

    def test_all_faults_of_a_file_are_told_at_once(self, tmp_path: Path) -> None:
        """In the order of their lines, so that one edit mends them all."""
        text = _fails(
            tmp_path,
            "{ tools: { loopDetection: {\n  warningThreshold: 0,\n  enabled: 'yes',\n  historysize: 3,\n} },\n"
            "  agents: { list: [\n    { id: 'a', tools: { loopDetection: { windowSize: 3 } } } ] } }",
        )

        assert "4 faults" in text
        lines = [int(part.split(")")[0]) for part in text.split("(line ")[1:]]
        assert lines == [2, 3, 4, 7]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{tools: []}", "`tools` (line 1): found [], expected an object"),
            ("[]", "the file holds [], expected an object"),
            ("{agents: {list: 3}}", "`agents.list` (line 1): found 3, expected a list"),
            ("{tools: {loopDetection: null}}", "found null, expected an object"),
            ("{tools: {loopdetection: {}}}", "did you mean `loopDetection`?"),
            ("{Tools: {}}", "did you mean `tools`?"),
            ('{"tools\\t": {}}', "did you mean `tools`?"),
            ("{enabled: true}", "move it to `tools.loopDetection.enabled`"),
            ("{agents: {list: [{tools: {loopDetection: {}}}]}}", "expected the agent's id"),
            ("{agents: {list: [{id: ' ', tools: {loopDetection: {}}}]}}", "expected the agent's id"),
            (
                "{agents: {list: [{id: 'A', tools: {loopDetection: {}}}, {id: 'a', tools: {loopDetection: {}}}]}}",
                "agents.list[0] has the same one",
            ),
        ],
    )
    def test_a_block_that_would_not_be_read_is_a_fault(self, tmp_path: Path, text: str, said: str) -> None:
        """A key that is ours but for a letter, or stands in the wrong place, is not passed over."""
        assert said in _fails(tmp_path, text)

    @pytest.mark.parametrize(
        ("text", "line", "first"),
        [
            ("{tools: {loopDetection: {\nenabled: true,\nenabled: false}}}", 3, 2),
            ("{tools: {loopDetection: {detectors: {\n'pingPong': true,\n\n\"pingPong\": false}}}}", 4, 2),
            ("{tools: {},\n\ntools: {}}", 3, 1),
            ("{agents: {list: [{id: 'a', // x\n id: 'b', tools: {loopDetection: {}}}]}}", 2, 1),
        ],
    )
    def test_a_key_that_stands_twice_is_a_fault(self, tmp_path: Path, text: str, line: int, first: int) -> None:
        """JSON5 readers take the last and lose the first; which of them was meant only the user knows."""
        said = _fails(tmp_path, text)

        assert f"(line {line}): found the key twice" in said
        assert f"it stands at line {first} too" in said

    def test_keys_of_others_may_stand_twice(self, tmp_path: Path) -> None:
        """What is skipped is skipped."""
        text = "{gateway: {a: 1, a: 2}, tools: {exec: {b: 1, b: 2}, loopDetection: {enabled: true}}}"

        assert load_config(_file(tmp_path, text)).for_agent().enabled is True

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "it is empty"),
            (" \n", "it is empty"),
            ("{", "the object that begins at line 1, column 1 is never closed"),
            ("{a: 1,\n  b: [1, 2}", "'}' at line 2, column 11 is not valid JSON5"),
            ("{a: 1,,}", "',' at line 1, column 7 is not valid JSON5"),
            ("enabled: true", "'e' at line 1, column 1 is not valid JSON5"),
            ("{a: 'x", "the string that begins at line 1, column"),
            ("{a: " + "[" * 2000 + "]" * 2000 + "}", "nested more than 500 levels deep"),
            ("{} x", "'x' at line 1, column 4 is not valid JSON5"),
            (b"\xef\xbb\xbf{}", "it begins with a byte order mark (UTF-8); save it as UTF-8 without one"),
            (b"\xff\xfe{\x00}\x00", "it begins with a byte order mark (UTF-16)"),
            (b"\x80\x81", "byte 1 of it is not UTF-8"),
            (b"{}\x00", "it contains binary data"),
            (b"\x1f\x8b\x08\x00\x80", "is not UTF-8"),
        ],
    )
    def test_a_file_that_is_no_json5_says_where_it_stops_being_it(
        self, tmp_path: Path, text: str | bytes, said: str
    ) -> None:
        """With line and column, and what to look for."""
        assert said in _fails(tmp_path, text)

    def test_a_file_that_is_not_there_says_so(self, tmp_path: Path) -> None:
        """A missing file and a folder are told apart."""
        with pytest.raises(ConfigError, match="there is no such file"):
            load_config(tmp_path / "none.json5")
        with pytest.raises(ConfigError, match="it is a directory"):
            load_config(tmp_path)

    def test_a_file_that_cannot_be_read_says_why(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """In the words of the system."""
        file = _file(tmp_path, b"{}")

        def fail(_: Path) -> bytes:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_bytes", fail)
        with pytest.raises(ConfigError, match="Permission denied"):
            load_config(file)

    def test_a_value_that_no_file_can_hold_is_named_by_its_type(self) -> None:
        """A configuration may come from code, too."""
        with pytest.raises(ConfigError, match="object"):
            config_from(_block({"historySize": object()}))

    def test_an_agent_that_is_no_object_is_a_fault(self) -> None:
        """In the list and in the entries."""
        with pytest.raises(ConfigError) as failure:
            config_from({"agents": {"list": [3, {"id": "a"}], "entries": {"b": "c"}}})

        assert [fault.path for fault in failure.value.faults] == ["agents.entries.b", "agents.list[0]"]

    def test_long_values_are_cut(self) -> None:
        """An error is a paragraph."""
        with pytest.raises(ConfigError) as failure:
            config_from(_block({"historySize": "x" * 1000}))

        assert len(failure.value.diagnostics()) < 300

    @given(st.binary(max_size=60))
    def test_no_bytes_raise_anything_else(self, data: bytes) -> None:
        """Whatever a file holds, the answer is a configuration or the one error."""
        with TemporaryDirectory() as folder, suppress(ConfigError):
            load_config(_file(Path(folder), data))


class TestPlaces:
    def test_keys_are_found_whatever_they_are_written_as(self) -> None:
        """Comments, all kinds of quotes, escapes and lists do not confuse the lines."""
        text = "{ // {\n a: {'b': /* } */ [1, {c: '}\\'\"'},\n {d: 1}]},\n \"e\\u0066\": 'x\\\ny', g: .5,\n}"
        lines = KeyPositions(text).lines

        assert lines[("a",)] == 2
        assert lines[("a", "b", 1, "c")] == 2
        assert lines[("a", "b", 2, "d")] == 3
        assert lines[("ef",)] == 4
        assert lines[("g",)] == 5


class TestSchema:
    def test_an_editor_accepts_what_is_right(self, tmp_path: Path) -> None:
        """The schema describes a whole configuration."""
        import pyjson5

        jsonschema.validate(pyjson5.decode(OPENCLAW), schema())

    @pytest.mark.parametrize("name", sorted(set(FAULTS) - {"an endless number"}))
    def test_an_editor_marks_every_fault(self, name: str) -> None:
        """What the check refuses, the schema refuses."""
        block, _, _ = FAULTS[name]

        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(_block(block), schema())

    def test_it_gives_every_key_a_description_and_its_default(self) -> None:
        """So that an editor can help."""
        block = schema()["$defs"]["LoopDetection"]["properties"]

        assert {key: value["default"] for key, value in block.items() if value.get("type") == "integer"} == {
            key_of(name): default for name, default in NUMBERS["standard"].items() if name != "window_size"
        }
        assert all(value["description"] for value in block.values())
