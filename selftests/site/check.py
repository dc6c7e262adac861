#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""check.py - a built site, as a reader and as a browser see it.

    check.py links HTML       each link leads to a page and a heading that are there; nothing is loaded from elsewhere
    check.py menu TREE        each page is in the menu, tools/site/mkdocs.yml
    check.py browse HTML DIR  pages in Chromium, on a desk and on a phone; pictures into DIR
"""
import functools
import html.parser
import http.server
import pathlib
import re
import sys
import threading
import time
import urllib.parse

LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src")}
BROWSED = ["", "concepts/", "reference/counters/", "reference/man/mrcctl.8/", "tutorial/4-break-it/"]


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids.update(v for k, v in attrs if k in ("id", "name") and v)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        # A canonical address is named, not loaded.
        if values.get("rel") not in ("canonical", "next", "prev"):
            self.loads += [values[a] for t, a in LOADED if t == tag and values.get(a)]


def links(root):
    pages = {p.resolve(): Page(p) for p in sorted(root.rglob("*.html")) if p.name != "404.html"}
    root = root.resolve()
    faults = []
    for path, page in pages.items():
        name = path.relative_to(root)
        for link in page.loads:
            if re.match(r"(https?:)?//", link):
                faults.append(f"{name} loads {link}")
            elif not link.startswith("data:") and not (path.parent / urllib.parse.urlsplit(link).path).exists():
                faults.append(f"{name} loads {link}, which is not there")
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            if not to.exists():
                faults.append(f"{name} links to {link}, which is not there")
            elif parts.fragment and to in pages and urllib.parse.unquote(parts.fragment) not in pages[to].ids:
                faults.append(f"{name} links to {link}: no such heading")
    print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links")
    return faults


def menu(tree):
    sys.path.insert(0, str(tree / "tools/site"))
    import stage
    named = set(re.findall(r"[\w./-]+\.md$", (tree / "tools/site/mkdocs.yml").read_text(), re.M))
    there = {p for p in stage.places(tree).values() if p.endswith(".md")} | {stage.ELSEWHERE["Documentation/netlink/specs"]}
    return [f"{page} is not in the menu" for page in sorted(there - named)] + \
        [f"the menu names {page}, which is not there" for page in sorted(named - there)]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def browse(root, pictures):
    from browser import Browser
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}/"
    faults = []
    for width, height, dark in ((1400, 900, False), (390, 844, True)):
        browser = Browser(width, height)
        browser.scheme(dark)
        for page in BROWSED:
            browser.open(base + page)
            browser.picture(pictures / f"{page.strip('/').replace('/', '-') or 'home'}-{width}.png")
            wide = browser.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                faults.append(f"/{page} is {wide} pixels wide on a screen of {width}")
        faults += search(browser, base)
        faults += [f"the console says {c}" for c in browser.complaints]
        faults += [f"it asks {r}" for r in browser.requests if not r.startswith((base, "data:", "blob:"))]
        browser.close()
    server.shutdown()
    return faults


def search(browser, base):
    """By its own index, in a worker. On a busy machine the theme's worker sometimes never starts: the page is opened again then."""
    end = time.monotonic() + 150  # a net, not a limit
    while time.monotonic() < end:
        browser.open(base)
        browser.evaluate("document.querySelector('[data-md-component=search-query]').focus()")
        browser.evaluate("(q => { q.value = 'locator'; q.dispatchEvent(new Event('input', {bubbles: true})); "
                         "q.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})) })"
                         "(document.querySelector('[data-md-component=search-query]'))")
        for _ in range(75):
            if browser.evaluate("document.querySelectorAll('.md-search-result__item').length"):
                return []
            time.sleep(.2)
    return ["a search for 'locator' finds nothing"]


def main(args):
    todo = {"links": (links, 2), "menu": (menu, 2), "browse": (browse, 3)}
    if not args or args[0] not in todo or len(args) != todo[args[0]][1]:
        sys.exit(__doc__)
    faults = todo[args[0]][0](*map(pathlib.Path, args[1:]))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
