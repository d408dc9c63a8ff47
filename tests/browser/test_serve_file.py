"""``hcviz serve FILE``: every page begins with the file, and no address opens another."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, wait_until

TABLE = "name,x,y\n" + "".join(f"item {k},{k % 4 * 10},{k}\n" for k in range(12))


def names(page):
    return set(column(page, "label-text", "text"))


def test_the_file_is_offered_and_no_other(serve, new_page, tmp_path):
    table, secret = tmp_path / "points.csv", tmp_path / "secret.csv"
    table.write_text(TABLE)
    secret.write_text(TABLE.replace("item", "secret"))
    answers = tmp_path / "crowd.csv"
    answers.write_text("odd,other_1,other_2\nitem 0,item 1,item 2\n")
    server = serve(None, [str(table), "--answers", str(answers)], log="serve-file.log")
    table.unlink()  # it was read at the start
    page = new_page()
    page.goto(server.url)
    dashboard = Dashboard(page).settle()
    wait_until(page, lambda: names(page) == {f"item {k}" for k in range(12)})
    menu = page.get_by_label("data", exact=True)
    expect(menu.locator("option:checked")).to_have_text("points.csv")
    expect(page.get_by_role("tab", name="Comparisons")).to_be_enabled()
    menu.select_option("iris")
    dashboard.settle()
    assert "item 0" not in names(page)
    menu.select_option(label="points.csv + crowd.csv")
    dashboard.settle()
    wait_until(page, lambda: "item 0" in names(page))

    for wanted in (str(secret), "points.csv"):
        page = new_page()
        page.goto(f"{server.url}?data={wanted}")
        Dashboard(page).settle()
        expect(page.get_by_role("alert")).to_contain_text("is not known")
        assert not any(name.startswith("secret") for name in names(page))

    page = new_page()
    page.goto(f"{server.url}?data=zoo&method=average")
    Dashboard(page).settle()
    wait_until(page, lambda: "frog" in names(page))
    page = new_page()
    page.goto(f"{server.url}?method=average")
    Dashboard(page).settle()
    wait_until(page, lambda: "item 0" in names(page))
