"""Files that other programs read: SKOS, OPML, phyloXML, NHX, HTML, and two plain tables."""

from __future__ import annotations

import io
import re
import sys
from html.parser import HTMLParser

import pytest
import rdflib
from Bio.Phylo import PhyloXMLIO
from hypothesis import given, settings
from rdflib.namespace import RDF, SKOS

from hcviz import Group, Taxonomy, Tree
from hcviz.cli import main
from hcviz.core.errors import InvalidTaxonomy
from tests.test_taxonomy import kitchen, taxonomies

FORMATS = ["turtle", "json-ld"]


def everything(taxonomy):
    """Groups by what SKOS keeps: alternative names are a set, without the name itself."""
    return sorted(
        (g.name, g.id, g.note, sorted({*g.alternatives} - {g.name}), g.status, g.locked,
         sorted(taxonomy.labels[item] for item in g.members))
        for g in taxonomy.groups
    )  # fmt: skip


# ---------------------------------------------------------------------- SKOS


@pytest.mark.parametrize("format", FORMATS)
@given(taxonomy=taxonomies())
@settings(max_examples=40)
def test_skos_gives_back_everything(format, taxonomy):
    text = taxonomy.to_skos(format)
    back = Taxonomy.from_skos(text)
    assert everything(back) == everything(taxonomy)
    assert sorted(back.labels) == sorted(taxonomy.labels)
    assert Taxonomy.from_skos(text, taxonomy.labels).labels == taxonomy.labels
    assert Taxonomy.from_skos(back.to_skos(format)).to_skos(format) == back.to_skos(format)


@given(taxonomy=taxonomies())
@settings(max_examples=30)
def test_turtle_and_json_ld_agree(taxonomy):
    turtle, json_ld = (
        rdflib.Graph().parse(data=taxonomy.to_skos(format), format=format) for format in FORMATS
    )
    assert {*turtle} == {*json_ld}


def test_skos_is_what_rdflib_expects():
    graph = rdflib.Graph().parse(data=kitchen().to_skos(base="https://example.org/k/"))
    uri = rdflib.URIRef("https://example.org/k/group/s")
    scheme = rdflib.URIRef("https://example.org/k/taxonomy")
    assert list(graph.subjects(RDF.type, SKOS.ConceptScheme)) == [scheme]
    assert len(list(graph.subjects(RDF.type, SKOS.Concept))) == 3 + 7
    assert str(graph.value(uri, SKOS.prefLabel)) == "Storage"
    assert str(graph.value(uri, SKOS.altLabel)) == "Keeping"
    assert str(graph.value(uri, SKOS.definition)) == "with lids"
    assert str(graph.value(uri, SKOS.broader)) == "https://example.org/k/group/k"
    assert {str(graph.value(each, SKOS.prefLabel)) for each in graph.subjects(SKOS.broader, uri)} \
        == {"jar", "box"}  # fmt: skip
    tops = {*graph.subjects(SKOS.topConceptOf, scheme)}
    assert tops == {*graph.objects(scheme, SKOS.hasTopConcept)}
    assert {str(graph.value(each, SKOS.prefLabel)) for each in tops} == {"Kitchen", "fork", "knife"}


def test_skos_of_another_program_keeps_its_uris():
    text = """
        @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        <http://x.org/t> a skos:Concept ; skos:prefLabel "Bäume"@de, "Trees"@en ;
            skos:narrower <http://x.org/1>, <http://x.org/2> .
        <http://x.org/1> a skos:Concept ; skos:prefLabel "yew"@en .
        <http://x.org/2> a skos:Concept ; skos:prefLabel "elm"@en .
        <http://x.org/3> a skos:Concept ; skos:prefLabel "owl"@en .
    """
    back = Taxonomy.from_skos(text)
    (group,) = back.groups
    assert (group.name, group.id, group.alternatives) == ("Trees", "http://x.org/t", ("Bäume",))
    assert {back.labels[item] for item in group.members} == {"yew", "elm"}
    assert "<http://x.org/t> a skos:Concept" in back.to_skos()
    assert Taxonomy.from_skos(back.to_skos()).groups[0].id == "http://x.org/t"


PREFIX = "@prefix s: <http://www.w3.org/2004/02/skos/core#> . @prefix : <urn:x:> .\n"


def concepts(**links):
    return PREFIX + "".join(
        f':{name} a s:Concept ; s:prefLabel "{name}" {link} .\n' for name, link in links.items()
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_cycle_is_reported_with_the_line_of_its_concept(form):
    text = Taxonomy.from_text("Kitchen\n  Storage\n    jar\n    box\n  fork\n").to_skos(form)
    inner = re.search(r"(urn:hcviz:group/\w+)\W+Concept\W+prefLabel\W+Storage", text.replace(
        "a skos:", "").replace('"@type": "skos:', "").replace("skos:", ""))[1]  # fmt: skip
    top = "skos:topConceptOf <urn:hcviz:taxonomy>"
    text = text.replace(top, f"skos:broader <{inner}>")
    text = text.replace('"topConceptOf": "urn:hcviz:taxonomy"', f'"broader": "{inner}"')
    with pytest.raises(InvalidTaxonomy) as fault:
        Taxonomy.from_skos(text)
    line, name = re.match(
        r"Line (\d+): the concept '(\w+)' is broader", fault.value.message
    ).groups()
    described = text.splitlines()[int(line) - 1 : int(line) + 3]
    assert "urn:hcviz:group/" in described[0]
    assert any("prefLabel" in each and name in each for each in described[1:])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (concepts(a="; s:broader :b", b="; s:broader :a"), "Line [23]: the concept '[ab]' is"),
        (concepts(c="", b="", a="; s:broader :a"), "Line 4: the concept 'a' is broader than"),
        (concepts(z="; s:broader :a", a="; s:broader :b", b="; s:broader :a"), "concept '[ab]' is"),
        (concepts(x="; s:broader :a, :b", a="", b=""), "'x' has more than one broader .* and 'b'"),
        (concepts(x="; s:broader :a", a="", b="; s:narrower :x"), "'x' has more than one broader"),
        (concepts(x='; s:prefLabel "y"', a=""), "has a second prefLabel without a language: 'y'"),
        (concepts(x='; s:prefLabel "p"@en, "q"@en', a=""), "in the language 'en': 'q'"),
        (PREFIX + ":a a s:Concept .", "<urn:x:a> has no prefLabel"),
        (concepts(a="; s:broader :missing", b=""), "Line 2: the concept <urn:x:missing> has no"),
        (PREFIX + ":a a s:ConceptScheme . :b a s:ConceptScheme .", "has 2 schemes"),
        (PREFIX, "has no concepts"),
        (PREFIX + ":a a s:Conc", "cannot be read as Turtle"),
        ("{", "cannot be read as JSON-LD"),
        ('{"a":' * 50000, "nested too deeply"),
        ('{"@context": "https://example.org/c.jsonld"}', "context in another file"),
        ('{"@graph": [{"@context": [{}, "c.jsonld"]}]}', "context in another file"),
        ('{"@context": [["c.jsonld"]]}', "context in another file"),
        ('{"@context": {"@import": "c.jsonld"}}', "context in another file"),
        (concepts(x="; s:broader :a", y="; s:broader :a", b="; s:broader :a", a=""),
         None),
    ],
)  # fmt: skip
def test_skos_that_is_no_tree_is_one_sentence(text, message):
    if message is None:
        assert [group.name for group in Taxonomy.from_skos(text).groups] == ["a"]
        return
    with pytest.raises(InvalidTaxonomy, match=message) as fault:
        Taxonomy.from_skos(text)
    assert len(str(fault.value)) < 300


def test_skos_without_rdflib_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(InvalidTaxonomy, match=r"rdflib.*hcviz\[taxonomy\]"):
        Taxonomy.from_skos(kitchen().to_skos())


def test_what_skos_cannot_write_is_one_sentence():
    with pytest.raises(InvalidTaxonomy, match="not an absolute URI"):
        kitchen().to_skos(base="my things")
    with pytest.raises(InvalidTaxonomy, match="turtle or json-ld"):
        kitchen().to_skos("xml")
    with pytest.raises(InvalidTaxonomy, match="incomplete character"):
        Taxonomy(["a\ud800", "b"], Tree.star(2)).to_skos()


# ---------------------------------------------------------------------- OPML, text, paths

#: What XML 1.0 cannot hold.
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What each form keeps of a group.
KEPT = {
    "opml": lambda g: (g.name, g.id, g.note, g.status, g.locked),
    "text": lambda g: (g.name,),
    "paths": lambda g: (g.name,),
    "nhx": lambda g: (g.name,),
}


def summary(taxonomy, form):
    return sorted(
        (KEPT[form](group), sorted(taxonomy.labels[item] for item in group.members))
        for group in taxonomy.groups
    )


def write(form, taxonomy):
    if form in ("paths", "nhx"):
        return taxonomy.to_csv(form) if form == "paths" else taxonomy.to_newick(form)
    return getattr(taxonomy, f"to_{form}")()


def read(form, text, labels=None):
    name = {"paths": "csv", "nhx": "newick"}.get(form, form)
    return getattr(Taxonomy, f"from_{name}")(text, labels)


def texts(taxonomy):
    return [*taxonomy.labels, *(text for g in taxonomy.groups for text in (g.name, g.note))]


@pytest.mark.parametrize("form", KEPT)
@given(taxonomy=taxonomies())
def test_readers_give_back_what_writers_wrote(form, taxonomy):
    wrong = [text for text in texts(taxonomy) if NOT_XML.search(text)]
    if form == "opml" and wrong:
        with pytest.raises(InvalidTaxonomy, match=r"XML cannot represent the character U\+"):
            write(form, taxonomy)
        return
    back = read(form, write(form, taxonomy))
    assert summary(back, form) == summary(taxonomy, form)
    assert sorted(back.labels) == sorted(taxonomy.labels)
    assert read(form, write(form, taxonomy), taxonomy.labels).labels == taxonomy.labels
    again = read(form, write(form, back))
    if form == "nhx":  # neither ids nor branch lengths are read
        assert again.to_newick() == back.to_newick()
    else:
        assert write(form, again) == write(form, back)


def test_what_outliners_and_people_write_is_read():
    opml = """<?xml version="1.0"?><opml version="1.0"><head><title>x</title></head><body>
      <outline text="Trees" type="list" created="today"><outline text="yew" id="7"/>
      <outline title="elm"/></outline><outline text="owl &amp; co"/></body></opml>"""
    back = Taxonomy.from_opml(opml)
    assert named_members(back) == [("Trees", {"yew", "elm"})]
    assert {*back.labels} == {"yew", "elm", "owl & co"}
    back = Taxonomy.from_text("Trees\n\tConifers\r\n\t\tyew \n\t\tfir\n\n\telm\nowl\n")
    assert {*back.labels} == {"yew", "fir", "elm", "owl"}
    expected = [("Conifers", {"yew", "fir"}), ("Trees", {"yew", "fir", "elm"})]
    assert named_members(back) == expected


def named_members(taxonomy):
    return sorted((g.name, {taxonomy.labels[item] for item in g.members}) for g in taxonomy.groups)


def test_the_table_of_paths():
    taxonomy = Taxonomy(["a", "b", "c"], Tree.from_children([[0, 1], [3, 2]], 3), [
        Group("x > y", [0, 1], id="i")
    ])  # fmt: skip
    text = taxonomy.to_csv("paths")
    assert text == "item,group,path\nc,,\na,x > y,x \\> y\nb,x > y,x \\> y\n"
    assert Taxonomy.from_csv(text).groups[0].name == "x > y"
    with pytest.raises(InvalidTaxonomy, match="levels or paths"):
        taxonomy.to_csv("other")
    with pytest.raises(InvalidTaxonomy, match="plain or nhx"):
        taxonomy.to_newick("other")


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("opml", "<opml><body><outline text='a'/>", "cannot be read as OPML: .*line 1"),
        ("opml", "<html></html>", "not OPML: it begins with <html> .line 1."),
        ("opml", '<!DOCTYPE opml [<!ENTITY a "b">]>\n<opml/>', "document type .line 1."),
        ("opml", '<!DOCTYPE opml SYSTEM "http://x.org/a.dtd"><opml/>', "document type"),
        ("opml", "<opml><body>\n<outline/></body></opml>", "line 2 of the OPML has no text"),
        ("opml", "<opml/>", "no outlines"),
        ("opml", "<opml>&#1;</opml>", "cannot be read as OPML"),
        ("opml", "<opml><outline text='a' status='odd'><outline text='b'/></outline>"
         "<outline text='c'/></opml>", "status of 'a' is 'odd'"),
        ("opml", "<opml>" + "<outline text='a'>" * 3000 + "<outline text='c'/>"
         + "</outline>" * 3000 + "<outline text='b'/></opml>",
         "only the group 'a' in it"),
        ("text", "  a\nb\n", "Line 1 of the text is indented by 2"),
        ("text", "A\n  a\n      b\n", "Line 3 of the text is indented by 6"),
        ("text", "A\n  a\n   b\n", "Line 3 of the text is indented by 3"),
        ("text", "A\n  a\n\tb\n", "Line 3 of the text is indented by 1"),
        ("text", "A\n  a\n  b\nA\n  c\n  d\n", "are named 'A' .line 4."),
        ("paths", "item,path\na\n", "Row 2 has 1 cells"),
        ("paths", "item,path\na,A >  > B\n", "Row 2 has a group without a name"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_sentence_with_its_place(form, text, message):
    with pytest.raises(InvalidTaxonomy, match=message) as fault:
        read(form, text)
    assert len(str(fault.value)) < 300


# ---------------------------------------------------------------------- phylogenetics


def spaced(text):
    return " ".join(text.split())


@given(taxonomy=taxonomies())
@settings(max_examples=60)
def test_biopython_reads_phyloxml(taxonomy):
    everywhere = [*texts(taxonomy), *(a for g in taxonomy.groups for a in g.alternatives)]
    if any(NOT_XML.search(text) for text in everywhere):
        with pytest.raises(InvalidTaxonomy, match=r"XML cannot represent the character U\+"):
            taxonomy.to_phyloxml()
        return
    (phylogeny,) = phyloxml(taxonomy.to_phyloxml())
    tree = taxonomy.tree
    assert len(list(phylogeny.find_clades())) == tree.n_nodes
    leaves = phylogeny.get_terminals()
    assert sorted(spaced(leaf.name or "") for leaf in leaves) == sorted(
        map(spaced, taxonomy.labels)
    )
    depths = phylogeny.depths()
    for leaf, item in zip(leaves, tree.leaf_order.tolist(), strict=True):
        assert depths[leaf] == pytest.approx(tree.height[tree.root] - tree.height[item])
    found = {clade.node_id.value: clade for clade in phylogeny.find_clades() if clade.node_id}
    for group in taxonomy.placed:
        clade = found.pop(group.id)
        assert spaced(clade.name or "") == spaced(group.name)
        properties = {each.ref: each.value for each in clade.properties}
        assert properties["hcviz:status"] == group.status
        assert properties.get("hcviz:locked") == ("true" if group.locked else None)
        size = len(group.members)
        assert len(clade.get_terminals()) == size
    assert not found


def phyloxml(text):
    return PhyloXMLIO.read(io.BytesIO(text.encode())).phylogenies


def test_nhx_has_the_properties_of_a_group():
    text = kitchen().to_newick("nhx")
    stated = r"id=s:status=draft:note=with lids:alternative=Keeping"
    assert re.search(rf"Storage:[\d.]+\[&&NHX:{stated}\]", text)
    assert re.search(r"Cooking:[\d.]+\[&&NHX:id=c:status=draft:locked=true\]", text)
    odd = Group("a", [0, 1], note="]:;,(='", id="i")
    taxonomy = Taxonomy(["x", "y", "z"], Tree.from_children([[0, 1], [3, 2]], 3), [odd])
    assert "note=%5D%3A%3B%2C%28%3D%27]" in taxonomy.to_newick("nhx")


# ---------------------------------------------------------------------- HTML


class Outline(HTMLParser):
    """What is nested how: tags that never close wrongly, and the names in their groups."""

    def __init__(self):
        super().__init__()
        self.open, self.items, self.groups, self.path, self.tags = [], [], [], [], set()
        self.text = None

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("meta", "link", "input"):
            return
        self.open.append(tag)
        if tag == "details":
            self.path.append(None)
        if tag == "bdi":
            self.text = ""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "details":
            self.path.pop()
        if tag == "bdi" and self.open[-1] == "summary":
            self.path[-1] = self.text
            self.groups.append(tuple(self.path))
        if tag == "bdi" and self.open[-1] == "li":
            self.items.append((tuple(self.path), self.text))
        if tag == "bdi":
            self.text = None

    def handle_data(self, data):
        if self.text is not None:
            self.text += data


NOT_HTML = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


@given(taxonomy=taxonomies())
def test_the_page_has_all_groups_and_items_and_nothing_else(taxonomy):
    page = Outline()
    page.feed(taxonomy.to_html(taxonomy.labels[0]))
    page.close()
    assert page.open == []
    assert page.tags == {
        "html", "head", "meta", "link", "title", "style", "body", "header", "h1", "p", "bdi",
        "form", "input", "button", "output", "main", "ul", "li", "script",
    } | ({"details", "summary", "div", "span"} if taxonomy.groups else set())  # fmt: skip

    def shown(text):
        return NOT_HTML.sub("\ufffd", text)

    expected = [
        (tuple(shown(group.name) for group in path), shown(label))
        for path, label in zip(taxonomy.paths, taxonomy.labels, strict=True)
    ]
    assert sorted(page.items) == sorted(expected)
    assert len(page.groups) == len(taxonomy.placed)


def test_the_page_loads_nothing():
    page = kitchen().to_html("Kitchen & co")
    assert "<title>Kitchen &amp; co</title>" in page
    assert "7 items · 3 groups · 2 levels" in page
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page)
    assert page.count("<details") == page.count(" open>") == 3
    many = Taxonomy([f"i{k}" for k in range(200)], Tree.from_children([[0, 1], [
        200, *range(2, 200)]], 200), [Group("a", [0, 1])])  # fmt: skip
    assert " open>" not in many.to_html()


# ---------------------------------------------------------------------- the command

READABLE = [".md", ".json", ".csv", ".txt", ".opml", ".ttl", ".jsonld", ".nhx", ".nwk"]


def call(*words):
    return main(["convert", *map(str, words)])


@pytest.mark.parametrize("suffix", READABLE)
def test_convert_keeps_the_groups(suffix, tmp_path):
    (tmp_path / "a.json").write_text(kitchen().to_json(), encoding="utf-8")
    assert call(tmp_path / "a.json", tmp_path / f"b{suffix}") == 0
    assert call(tmp_path / f"b{suffix}", tmp_path / "c.json") == 0
    back = Taxonomy.from_json((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert named_members(back) == named_members(kitchen())
    if suffix in (".md", ".opml", ".ttl", ".jsonld"):
        assert {group.id for group in back.groups} == {"c", "s", "k"}


def test_convert_writes_pages_phyloxml_and_paths(tmp_path):
    source = tmp_path / "kitchen.md"
    source.write_text(kitchen().to_markdown(), encoding="utf-8")
    assert call(source, tmp_path / "kitchen.html") == 0
    assert "<title>kitchen</title>" in (tmp_path / "kitchen.html").read_text(encoding="utf-8")
    assert call(source, tmp_path / "kitchen.xml") == 0
    assert len(phyloxml((tmp_path / "kitchen.xml").read_text(encoding="utf-8"))) == 1
    assert call(source, tmp_path / "kitchen.csv", "--style", "paths") == 0
    assert (tmp_path / "kitchen.csv").read_text().startswith("item,group,path\n")


def test_what_convert_refuses_of_taxonomies(tmp_path, capsys):
    source = tmp_path / "kitchen.md"
    source.write_text("- **A**\n      - x\n", encoding="utf-8")
    names = tmp_path / "names.txt"
    names.write_text("x\ny\n")
    for words, message in (
        ((source, tmp_path / "a.json"), "kitchen.md: Line 2 of the outline is indented by 6"),
        ((source, tmp_path / "a.png"), "a.png: a taxonomy is written as"),
        ((source, tmp_path / "a.npy"), "a.npy: a taxonomy is written as"),
        ((tmp_path / "a.npy", tmp_path / "a.md"), "a.npy: a taxonomy is read from"),
        ((tmp_path / "no.md", tmp_path / "a.json"), "There is no file"),
    ):
        assert call(*words) == 2
        assert message in capsys.readouterr().err
    source.write_text("- x\n- z\n", encoding="utf-8")
    assert call(source, tmp_path / "a.json", "--labels", names) == 2
    assert "'z', which is not an item" in capsys.readouterr().err
    assert not (tmp_path / "a.json").exists()
