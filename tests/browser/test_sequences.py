"""Sequences from a file, opened on the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column

FASTA = ">bear\nACGTACGT\n>boar\nACGTACGA\n>lion\nACGTTCGA\n>tuna\nTTCCTTCC\n>carp\nTTCCTTCA\n"


@pytest.fixture
def page(blank):
    """Empty: each test here opens an address of its own."""
    return blank


def test_sequences_open_from_the_file_menu_and_have_a_tree(page, server, tmp_path):
    page.goto(f"{server.url}?data=iris&method=average")
    dashboard = Dashboard(page).settle()
    file = tmp_path / "five.fasta"
    file.write_text(FASTA)
    dashboard.open("Sequences…", file)
    expect(page.get_by_text("Your sequences 'five.fasta'.")).to_be_visible()
    dashboard.settle()
    names = column(page, "label-text", "text")
    assert sorted(names) == ["bear", "boar", "carp", "lion", "tuna"]
    assert abs(names.index("tuna") - names.index("carp")) == 1
    dashboard.choose("method", "active-spectral")
    expect(page.get_by_text("Pairs asked for")).to_be_visible()
    broken = tmp_path / "broken.txt"
    broken.write_text("ACGT\n\nACGA\n")
    dashboard.open("Sequences…", broken)
    expect(page.get_by_text("Line 2 of the file 'broken.txt' is empty.").first).to_be_visible()
    assert sorted(column(page, "label-text", "text")) == sorted(names)  # what was there stays
