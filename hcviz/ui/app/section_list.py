"""``SectionList``: the sections below the inspector, each with a script of its own."""

from __future__ import annotations

from typing import ClassVar

from hcviz.ui.parts.part import PARTS, SHARED_SCRIPT, UI, Part

_FEATURES = UI / "features"


class SectionList(Part):
    """The sections of :data:`hcviz.ui.app.sections.SECTIONS`, drawn one below the other."""

    _esm = "\n".join(
        [SHARED_SCRIPT, (PARTS / "plots.js").read_text(encoding="utf-8"), "const SECTIONS = {}"]
        + [
            f"{{\n{each.read_text(encoding='utf-8')}\n}}"
            for each in sorted(_FEATURES.glob("*/section.js"))
        ]
        + [(UI / "app" / "section_list.js").read_text(encoding="utf-8")]
    )
    _stylesheets: ClassVar[list[str]] = [
        *(
            (PARTS / name).read_text(encoding="utf-8")
            for name in ("tokens.css", "common.css", "plots.css")
        ),
        *(each.read_text(encoding="utf-8") for each in sorted(_FEATURES.glob("*/section.css"))),
    ]
