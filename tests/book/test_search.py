"""The search finds what a reader looks for: functions, parameters, symbols by their names, ledger rows."""

import pytest

from book.conftest import Tab

WANTED = {
    "learning_curve": "api/scaling",
    "feature_speed": "api/measure",
    "kappa": "notation",
    "gamma": "notation",
    "fl.time.lazy.b050": "ledger",
    "catapult": "glossary",
}


@pytest.fixture(scope="module")
def disk(browser, html):
    tab = Tab(browser, html.as_uri())
    yield tab
    tab.context.close()


@pytest.mark.parametrize("words", WANTED)
def test_search_works_from_the_disk(disk, words):
    disk.page.goto(f"{disk.address}/search.html?q={words}")
    results = disk.page.locator("#search-results ul.search li a")
    results.first.wait_for()
    disk.page.wait_for_function(
        "!document.querySelector('#search-progress')?.textContent.includes('Searching')"
    )
    disk.page.wait_for_timeout(300)
    assert any(WANTED[words] in link for link in results.evaluate_all("all => all.map(a => a.href)"))
