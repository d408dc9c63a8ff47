"""``hcviz serve --class``: a teacher and three students, each with a browser of their own."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WINDOW
from tests.browser.dashboard import Dashboard
from tests.browser.driving import TIMEOUT, wait_until


@pytest.fixture
def lesson(serve, browser, watch, tmp_path, monkeypatch):
    """Let people in: ``enter(code)`` opens a browser; also the two codes that were printed."""
    monkeypatch.setenv("HCVIZ_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    server = serve(None, ["zoo", "--class", "--address", "127.0.0.1"], log="class.log")
    printed = server.log.read_text(encoding="utf-8")
    codes = [re.search(rf"{who} code (\w+)", printed)[1] for who in ("class", "teacher")]
    assert "█▀" in printed or "▀█" in printed  # the QR code
    contexts = []

    def enter(code, context=None):
        if context is None:
            context = browser.new_context(viewport=WINDOW, reduced_motion="reduce")
            context.set_default_timeout(TIMEOUT)
            watch.over_context(context)
            contexts.append(context)
        page = context.new_page()
        page.goto(f"{server.url}?method=average")
        if code:
            page.get_by_label("Code").fill(code)
            page.keyboard.press("Enter")
        return Dashboard(page).settle()

    yield enter, *codes
    for each in contexts:
        each.close()


def test_a_class_answers_and_the_teacher_merges(lesson, watch):
    enter, class_code, teacher_code = lesson
    teacher = enter(teacher_code)
    sheet = teacher.page.locator(".hc-class")
    expect(sheet).to_contain_text(class_code)
    expect(sheet.locator(".qr")).to_be_visible()
    expect(sheet).to_contain_text("No student is here yet.")
    expect(sheet).not_to_contain_text(teacher_code)

    students = [enter(class_code) for _ in range(3)]
    for number, student in enumerate(students, start=1):
        expect(student.page.get_by_label("You are")).to_have_value(f"Student {number}")
        expect(student.page.get_by_role("tab", name="Class")).to_have_count(0)
    for student, odd in zip(students, ("bear", "bear", "dolphin"), strict=True):
        pair = ["dolphin", "seal"] if odd == "bear" else ["seal", "bear"]
        student.add_constraint(pair, odd)
        student.press("Enter")
        expect(student.constraints).to_have_count(1)
    name = students[0].page.get_by_label("You are")
    name.fill("Mia")
    name.press("Enter")

    row = sheet.get_by_role("row", name="Mia (1)")
    expect(row.first).to_contain_text("50 %")
    matrix = sheet.get_by_role("region", name="Agreement").locator("tbody tr").first
    expect(matrix).to_have_text(re.compile(r"Mia \(1\)\s*100\s*0"))
    expect(sheet.get_by_role("status")).to_have_text("3 students here, 3 answers.")
    expect(sheet.locator(".majority .name")).to_have_count(101)
    sheet.get_by_label("Mia (1)").check()
    sheet.get_by_role("button", name="Merge 1 answer").click()
    expect(teacher.constraints).to_have_count(1)
    expect(teacher.constraints).to_contain_text("Mia (1)")
    for student in students:
        expect(student.constraints).to_have_count(1)

    # The third student closes the tab, and comes back with the same browser.
    context = students[2].page.context
    students[2].page.close()
    back = enter("", context)
    expect(back.page.get_by_label("You are")).to_have_value("Student 3")
    expect(back.constraints).to_have_count(1)
    wait_until(teacher.page, lambda: sheet.locator("tbody tr").count() >= 3)
    expect(sheet.get_by_role("status")).to_have_text("3 students here, 3 answers.")
    assert not watch.faults
