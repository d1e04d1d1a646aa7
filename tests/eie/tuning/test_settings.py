"""Settings of tuning as the command line gives them: as text."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from inhabit.eie.tuning.settings import TuneSettings
from inhabit.episodes.playing.settings import SettingError, divide


def test_lists_are_words_with_commas() -> None:
    settings = TuneSettings.model_validate(
        {"kinds": "decision, recovery", "whole": "multi_modal_projector"}
    )
    assert settings.kinds == ("decision", "recovery")
    assert settings.whole == ("multi_modal_projector",)
    assert TuneSettings.model_validate(settings.model_dump(mode="json")) == settings
    with pytest.raises(ValidationError, match="kinds"):
        TuneSettings.model_validate({"kinds": "decisions"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"reasons": "true"}, "reasons=true needs objective=sft"),
        ({"end": "true"}, "end=true needs objective=sft"),
        ({"negatives": "3", "objective": "sft"}, "negatives and other_answers need objective="),
        ({"other_answers": "3", "objective": "contrast"}, "other_answers need objective=ranking"),
        ({"targets": "none", "whole": "all", "last_layers": "2"}, "last_layers= needs LoRA"),
        ({"targets": "none"}, "targets=none needs whole="),
        ({"whole": "all"}, "whole=all needs targets=none"),
        ({"quantization": "bnb-4bit", "targets": "none", "whole": "all"}, "leave whole= out"),
    ],
)
def test_settings_that_contradict_each_other(given: dict[str, str], said: str) -> None:
    with pytest.raises(SettingError, match=f"Settings of tune do not go together: .*{said}"):
        divide(given, {"tune": TuneSettings})
