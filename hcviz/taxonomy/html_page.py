"""Export of taxonomies as one HTML page, which needs no server, no network and no script."""

from __future__ import annotations

from hcviz.core.text import escape_html
from hcviz.taxonomy.entry import Entry

#: With this many items or fewer, all groups are open at first.
ALL_OPEN = 150

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2329;--soft:#5b6670;--line:#dde2e6;--paper:#fff;
--hit:#fff1b8;--link:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaee;--soft:#9aa5af;--line:#333b43;
--paper:#15191d;--hit:#5a4a10;--link:#7db7f0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 4rem;background:var(--paper);
color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .25rem}
.soft,.count,.mark{color:var(--soft)}
header p{margin:0}
form{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;
padding:.75rem 0;margin-bottom:.5rem;background:var(--paper);border-bottom:1px solid var(--line)}
form[hidden],li[hidden],details[hidden]{display:none}
input,button{font:inherit;color:inherit;background:var(--paper);padding:.4rem .75rem;
border:1px solid var(--soft);border-radius:.4rem}
input{flex:1 1 14rem;min-width:0}
button{cursor:pointer}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
output{flex-basis:100%;color:var(--soft);font-size:.9rem}
output:empty{display:none}
summary{display:flex;gap:.5rem;align-items:baseline;padding:.3rem 0;cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
summary::before{content:"";flex:none;width:.45rem;height:.45rem;border:solid var(--soft);
border-width:0 2px 2px 0;transform:translateY(-.1rem) rotate(-45deg);margin-right:.15rem}
details[open]>summary::before{transform:translateY(-.15rem) rotate(45deg)}
.name{font-weight:600}
main>details>summary .name{font-size:1.15rem}
.count{margin-left:auto;font-variant-numeric:tabular-nums;font-size:.9rem}
.count,.mark{flex:none;white-space:nowrap}
.mark{font-size:.8rem;border:1px solid var(--line);border-radius:1rem;padding:0 .5rem}
main>details,main>ul{border-bottom:1px solid var(--line)}
main>ul{padding:.3rem 0}
details>div{margin:0 0 .5rem .2rem;padding-left:1.1rem;border-left:1px solid var(--line)}
details p{margin:.1rem 0 .4rem;color:var(--soft);font-size:.95rem;white-space:pre-line}
ul{list-style:none;margin:.1rem 0 .4rem;padding:0;columns:15rem;column-gap:2rem}
li{padding:.1rem 0;break-inside:avoid}
.hit{background:var(--hit)}
@media (max-width:34rem){input{flex-basis:100%}button{flex:1}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--line:#bbb;--paper:#fff}
body{max-width:none;padding:0;font-size:10pt}form{display:none}summary{break-after:avoid}
details::details-content{content-visibility:visible;display:block;height:auto}}
"""

# The search ignores case and accents. After a search, and after printing, the groups that were open
# before are open again.
_SCRIPT = """
const form=document.querySelector("form"),find=form.querySelector("input"),
status=form.querySelector("output"),groups=[...document.querySelectorAll("details")],
items=[...document.querySelectorAll("li")];let before=null;form.hidden=false;
const plain=text=>text.normalize("NFD").replace(/\\p{M}/gu,"").toLowerCase();
const keep=()=>before??=groups.map(group=>group.open);
const restore=()=>{if(before)groups.forEach((group,k)=>{group.open=before[k]});before=null};
const all=open=>{before=null;groups.forEach(group=>{group.open=open})};
function search(){const sought=plain(find.value.trim());
for(const each of [...items,...groups])each.hidden=false;
for(const each of document.querySelectorAll(".hit"))each.classList.remove("hit");
status.value="";if(!sought)return restore();keep();const shown=new Set();let found=0,named=0;
const show=node=>{for(let up=node.parentElement.closest("details");up;
up=up.parentElement.closest("details")){shown.add(up);up.open=true}};
for(const group of groups){group.open=false;const texts=group.querySelectorAll(
":scope>summary .name,:scope>div>.other");
if([...texts].some(text=>plain(text.textContent).includes(sought))){named++;shown.add(group);
group.querySelector(".name").classList.add("hit");show(group)}}
for(const item of items){if(plain(item.textContent).includes(sought)){found++;
item.firstChild.classList.add("hit");show(item)}}
const inside=node=>{for(let up=node.parentElement.closest("details");up;
up=up.parentElement.closest("details"))if(up.querySelector(".name").matches(".hit"))return true};
for(const item of items)item.hidden=!item.firstChild.matches(".hit")&&!inside(item);
for(const group of groups)group.hidden=!shown.has(group)&&!inside(group);
const many=(n,word)=>n+" "+word+(n===1?"":"s");
status.value=found+named?`${many(found,"item")} and ${many(named,"group")} found`:"Nothing found.";}
find.addEventListener("input",search);form.addEventListener("submit",event=>event.preventDefault());
form.querySelector(".open").addEventListener("click",()=>all(true));
form.querySelector(".close").addEventListener("click",()=>all(false));
addEventListener("beforeprint",()=>{if(!find.value){keep();groups.forEach(g=>{g.open=true})}});
addEventListener("afterprint",()=>{if(!find.value)restore()});
"""


def write_html(top: Entry, title: str = "Taxonomy") -> str:
    """Return a page with the groups as nested ``details``, and a search if scripts may run. O(n).

    Characters that HTML cannot represent become U+FFFD. The content policy of the page does not
    allow it to load any resource.

    Parameters
    ----------
    top : Entry
        The whole taxonomy.
    title : str
        Heading of the page and title of the window.

    Examples
    --------
    >>> page = write_html(Entry(contents=["elm", Entry("<Birds>", ["owl", "rook"])]))
    >>> "&lt;Birds&gt;</bdi>" in page
    True
    """
    counts = _counts(top)
    n = counts[id(top)][0]
    pieces: list[str] = []
    in_list = False
    waiting: list[Entry | str | None] = list(reversed(top.contents))
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            pieces.append(("" if in_list else "<ul>") + f"<li><bdi>{escape_html(each)}</bdi></li>")
            in_list = True
            continue
        if in_list:
            pieces.append("</ul>")
            in_list = False
        if each is None:
            pieces.append("</div></details>")
            continue
        pieces.append(_opening(each, counts[id(each)][0], n <= ALL_OPEN))
        waiting.append(None)
        waiting.extend(reversed(each.contents))
    pieces.append("</ul>" if in_list else "")
    _, groups, depth = counts[id(top)]
    facts = [_count(n, "item"), _count(groups, "group")]
    facts += [_count(depth, "level")] if depth else []
    name = escape_html(title)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,"><title>{name}</title>\n<style>{_STYLE}</style></head>\n'
        f'<body><header><h1><bdi>{name}</bdi></h1><p class="soft">'
        f"{' · '.join(facts)}</p></header>\n"
        '<form role="search" hidden><input type="search" aria-label="Search items and groups" '
        'placeholder="Search items and groups" autocomplete="off">'
        '<button type="button" class="open">Expand all</button>'
        '<button type="button" class="close">Collapse all</button><output></output></form>\n'
        "<main>\n" + "\n".join(pieces) + f"\n</main>\n<script>{_SCRIPT}</script></body></html>\n"
    )


def _opening(entry: Entry, n: int, is_open: bool) -> str:
    marks = [entry.status] * (entry.status == "accepted") + ["locked"] * entry.locked
    labels = "".join(f'<span class="mark">{escape_html(mark)}</span>' for mark in marks)
    names = ", ".join(f"<bdi>{escape_html(each)}</bdi>" for each in entry.alternatives)
    others = f'<p class="other">also {names}</p>' if names else ""
    note = f'<p dir="auto">{escape_html(entry.note)}</p>' if entry.note else ""
    return (
        f'<details id="{escape_html(entry.id)}"{" open" * is_open}>'
        f'<summary><bdi class="name">{escape_html(entry.name)}</bdi>{labels}'
        f'<span class="count">{_count(n, "item")}</span></summary><div>{others}{note}'
    )


def _counts(top: Entry) -> dict[int, tuple[int, int, int]]:
    """Return, for each entry, the numbers of items, groups and levels below it."""
    found: list[Entry] = [top]
    for entry in found:
        found.extend(entry.children)
    counts: dict[int, tuple[int, int, int]] = {}
    for entry in reversed(found):  # inner entries come first
        below = [counts[id(child)] for child in entry.children]
        counts[id(entry)] = (
            len(entry.items) + sum(each[0] for each in below),
            sum(each[1] + 1 for each in below),
            max((each[2] + 1 for each in below), default=0),
        )
    return counts


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 's'}"


__all__ = ["write_html"]
