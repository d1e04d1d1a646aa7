"""Keys stay out of started processes and out of texts."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from inhabit.envs.host.credentials import KEPT, credentials, redact, without_credentials

KEY = 'sk-"quoted\\0123456789'


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "INHABIT_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "db_password"),
        *("PGPASSWORD", "MYSQL_PWD", "OPENAI_API_KEY2", "OPENAI_KEY1", "OPENAIKEY", "AUTHTOKEN"),
        *("ACCESSTOKEN", "SLACK_WEBHOOK", "SLACK_WEBHOOK_URL", "API_KEY_2", "GITHUB_PAT"),
    ],
)
def test_a_key_is_known_by_its_variables_name(name: str) -> None:
    assert without_credentials({name: KEY, "PATH": "/bin"}) == {"PATH": "/bin"}
    assert credentials({name: KEY}) == [KEY]


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "XAUTHORITY", "DISPLAY", "KEYBOARD", "PWD", "OLDPWD", "LANG"),
        *("MAX_TOKENS", "OPENAI_MAX_OUTPUT_TOKENS", "PATTERN", "AUTHOR"),
    ],
)
def test_what_a_simulator_needs_is_kept(name: str) -> None:
    assert without_credentials({name: "value"}) == {name: "value"}


def test_an_address_with_a_password_is_a_key() -> None:
    assert without_credentials({"http_proxy": "http://me:word@proxy:80"}) == {}
    assert without_credentials({"http_proxy": "http://token@proxy:80"}) == {}
    assert without_credentials({"http_proxy": "http://proxy:80"}) != {}


def test_the_user_may_keep_one() -> None:
    given = {"UNITY_LICENSE_KEY": "licence-1", "HF_TOKEN": KEY, KEPT: "UNITY_LICENSE_KEY"}
    assert without_credentials(given) == {"UNITY_LICENSE_KEY": "licence-1", KEPT: given[KEPT]}


def test_a_started_process_sees_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INHABIT_API_KEY", KEY)
    program = "import os; print('INHABIT_API_KEY' in os.environ, 'PATH' in os.environ)"
    printed = subprocess.run(
        [sys.executable, "-c", program], env=without_credentials(), capture_output=True, text=True
    )
    assert printed.stdout.split() == ["False", "True"]


def test_texts_are_redacted_as_they_are_and_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INHABIT_API_KEY", KEY)
    assert redact(f"key {KEY}!") == "key [key]!"
    assert KEY not in json.loads(redact(json.dumps({"said": f"a {KEY} b"})))["said"]


@pytest.mark.parametrize("written", [r"ab\/cdé0123456", r"ab/cd\u00E9012345\u0036"])
def test_a_key_is_found_however_json_escapes_it(written: str) -> None:
    assert json.loads(f'"{written}"') == "ab/cdé0123456"
    assert redact(f'{{"said":"{written}"}}', ["ab/cdé0123456"]) == '{"said":"[key]"}'


def test_a_switch_is_no_key() -> None:
    assert credentials({"X_AUTH": "disabled", "Y_AUTH": "required"}) == []
    assert credentials({"X_AUTH": "pass1234"}) == ["pass1234"]


def test_a_short_value_is_a_word_and_no_key() -> None:
    assert redact("open the fridge", credentials({"MY_TOKEN": "fridge"})) == "open the fridge"
