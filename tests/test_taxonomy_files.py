"""Files that other programs read: SKOS, OPML, phyloXML, NHX, HTML, and two plain tables."""

from __future__ import annotations

import sys

import pytest
import rdflib
from hypothesis import given, settings
from rdflib.namespace import RDF, SKOS

from hcviz import Taxonomy, Tree
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
def test_turtle_and_json_ld_say_the_same(taxonomy):
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (concepts(a="; s:broader :b", b="; s:broader :a", c=""), "concept '[ab]' is broader than"),
        (concepts(a="; s:broader :a", b="", c=""), "concept 'a' is broader than itself"),
        (concepts(z="; s:broader :a", a="; s:broader :b", b="; s:broader :a"), "concept '[ab]' is"),
        (concepts(x="; s:broader :a, :b", a="", b=""), "'x' has more than one broader .* and 'b'"),
        (concepts(x="; s:broader :a", a="", b="; s:narrower :x"), "'x' has more than one broader"),
        (concepts(x='; s:prefLabel "y"', a=""), "'x' has a second prefLabel in no language: 'y'"),
        (concepts(x='; s:prefLabel "p"@en, "q"@en', a=""), "in the language 'en': 'q'"),
        (PREFIX + ":a a s:Concept .", "<urn:x:a> has no prefLabel"),
        (concepts(a="; s:broader :missing", b=""), "<urn:x:missing> has no prefLabel"),
        (PREFIX + ":a a s:ConceptScheme . :b a s:ConceptScheme .", "has 2 schemes"),
        (PREFIX, "has no concepts"),
        (PREFIX + ":a a s:Conc", "no Turtle that can be read"),
        ("{", "no JSON-LD that can be read"),
        ('{"a":' * 50000, "no JSON-LD that can be read"),
        ('{"@context": "https://example.org/c.jsonld"}', "context in another file"),
        ('{"@graph": [{"@context": [{}, "c.jsonld"]}]}', "context in another file"),
        ('{"@context": {"@import": "c.jsonld"}}', "context in another file"),
        (concepts(x="; s:broader :a", y="; s:broader :a", b="; s:broader :a", a=""),
         None),
    ],
)  # fmt: skip
def test_skos_that_is_no_tree_is_one_sentence(text, said):
    if said is None:
        assert [group.name for group in Taxonomy.from_skos(text).groups] == ["a"]
        return
    with pytest.raises(InvalidTaxonomy, match=said) as fault:
        Taxonomy.from_skos(text)
    assert len(str(fault.value)) < 300


def test_reading_skos_without_rdflib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(InvalidTaxonomy, match=r"rdflib.*hcviz\[taxonomy\]"):
        Taxonomy.from_skos(kitchen().to_skos())


def test_what_skos_cannot_write_is_one_sentence():
    with pytest.raises(InvalidTaxonomy, match="no absolute URI"):
        kitchen().to_skos(base="my things")
    with pytest.raises(InvalidTaxonomy, match="turtle or json-ld"):
        kitchen().to_skos("xml")
    with pytest.raises(InvalidTaxonomy, match="surrogate"):
        Taxonomy(["a\ud800", "b"], Tree.star(2)).to_skos()
