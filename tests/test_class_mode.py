"""Class mode: codes, students of one server, and what the teacher's page shows and merges."""

from __future__ import annotations

import re
from itertools import count

import pytest

from hcviz.cli import main
from hcviz.core.errors import InvalidParameter
from hcviz.io.network_access import read_access
from hcviz.session import actions as act
from hcviz.session.classroom import Classroom, pairwise_agreement, shares_with_class
from hcviz.ui.app.main_pane import Middle
from hcviz.ui.features.classroom import model
from hcviz.ui.features.classroom.controller import PACE, StudentTab, TeacherTab
from hcviz.ui.features.classroom.sheet import ACTS
from tests.sessions import Driver
from tests.stores import Loop, over_zoo

# ---------------------------------------------------------------------- who gets in


def test_a_class_has_a_code_for_students_and_another_for_the_teacher():
    access = read_access(5006, environment={}, for_class=True)
    assert access.public
    assert access.address == "0.0.0.0"
    assert access.password == access.class_code
    assert re.fullmatch(r"[a-z2-9]{8}", access.class_code)
    assert re.fullmatch(r"[a-z2-9]{16}", access.teacher_code)
    for text in (access.url, access.class_code, access.teacher_code):
        assert text in access.announcement
    again = read_access(5006, environment={}, for_class=True)
    assert {again.class_code, again.teacher_code}.isdisjoint(
        {access.class_code, access.teacher_code}
    )


def test_a_password_replaces_the_class_code():
    access = read_access(5006, environment={"HCVIZ_PASSWORD": "correct horse"}, for_class=True)
    assert (access.password, access.class_code) == ("correct horse", "")
    assert "correct horse" not in access.announcement
    assert len(access.teacher_code) == 16
    with pytest.raises(InvalidParameter, match="codes of its own"):
        read_access(5006, environment={"PANEL_OAUTH_PROVIDER": "gitlab"}, for_class=True)
    assert read_access(5006, environment={}).teacher_code == ""


def test_one_server_keeps_the_answers(capsys):
    assert main(["serve", "zoo", "--class", "--processes", "2"]) == 2
    assert "--class and --processes do not go together" in capsys.readouterr().err


# ---------------------------------------------------------------------- the class


def answered(*statements, author="Student 1"):
    driver = Driver()
    driver(act.SetAuthor(author))
    for group, apart in statements:
        driver(act.AddConstraint(group, apart, author=driver.session.author))
        driver.settle()
    return driver.session


def test_students_are_told_apart_by_their_browsers():
    room = Classroom("http://host:5006")
    heard = count()
    stop = room.listen(lambda: next(heard))
    assert [room.join(token).name for token in ("a", "b")] == ["Student 1", "Student 2"]
    assert room.join("a").n_tabs == 2
    room.leave("a")
    room.leave("a")
    room.report("b", answered(((0, 1), 2), author="Mia"))
    first, second = room.students
    assert (first.n_tabs, second.n_tabs) == (0, 1)
    assert second.name == "Mia (2)"
    assert {each.author for each in second.constraints} == {"Mia (2)"}
    assert second.tree is not None
    assert room.join("a").number == 1
    assert next(heard) == 7
    stop()
    room.leave("a")
    assert next(heard) == 8


def test_agreement_with_the_class():
    room = Classroom("http://host:5006")
    for token, statement in (("a", ((0, 1), 2)), ("b", ((0, 1), 2)), ("c", ((0, 2), 1))):
        room.join(token)
        room.report(token, answered(statement))
    room.join("d")
    pairs = pairwise_agreement(room.students)
    shares = [pairs[each].share for each in ((1, 2), (1, 3), (2, 3), (1, 4))]
    assert shares == [1.0, 0.0, 0.0, None]
    assert shares_with_class(room.students, pairs) == {1: 0.5, 2: 0.5, 3: 0.0, 4: None}


# ---------------------------------------------------------------------- pages


@pytest.fixture
def room():
    return Classroom("http://192.168.1.5:5006", "hkmwtzpd")


@pytest.fixture
def loop():
    return Loop()


def statement(store, *items):
    group, apart = items[:-1], items[-1]
    store.dispatch(act.AddConstraint(group, apart, author=store.session.author))


def test_answers_travel_from_students_to_the_teacher(room, loop):
    with (
        over_zoo(loop, "average") as teacher,
        over_zoo(loop, "average") as one,
        over_zoo(loop, "average") as two,
    ):
        TeacherTab(teacher, room, lambda _, show: loop.schedule(show))
        tabs = [StudentTab(one, room), StudentTab(two, room)]
        for tab, token in zip(tabs, "ab", strict=True):
            tab.connect(token)
        assert [one.session.author, two.session.author] == ["Student 1", "Student 2"]
        statement(one, 0, 1, 2)
        statement(two, 0, 2, 1)
        two.dispatch(act.AddChoice("odd", (3, 4, 5), "Student 2"))
        two.dispatch(act.SetAuthor("Mia"))
        loop.until(lambda: model.state(teacher)["majority"] and len(model.state(teacher)["pairs"]))
        found = model.state(teacher)
        assert [(s["name"], s["answers"], s["new"]) for s in found["students"]] == [
            ("Student 1", 1, 1),
            ("Mia (2)", 2, 2),
        ]
        assert [s["share"] for s in found["students"]] == [0, 0]
        assert found["sentence"] == "2 students here, 3 answers."
        assert sorted(found["majority"]["items"]) == list(range(teacher.session.n_items))

        ACTS(_Actions(teacher), "merge", {"students": [2]})
        assert [c.author for c in teacher.session.constraints] == ["Mia (2)"]
        assert [c.author for c in teacher.session.choices] == ["Mia (2)"]
        ACTS(_Actions(teacher), "merge", {"students": [1, 2]})
        assert [c.author for c in teacher.session.constraints] == ["Mia (2)", "Student 1"]
        assert teacher.session.conflict is not None  # kept, disabled and explained
        two.dispatch(act.SetAuthor("Maria"))  # another name does not make the answers new
        assert [s["new"] for s in model.state(teacher)["students"]] == [0, 0]

        # Nothing of the class is on the page of a student.
        for store in (one, two):
            assert store.classroom is None
            assert model.state(store) == {}
            store.change_view(sheet="class")
            assert Middle.now(store) != "class"
            ACTS(_Actions(store), "merge", {"students": [1, 2]})
        assert len(one.session.constraints) == 1

        tabs[0].close()
        loop.until(lambda: [s["here"] for s in model.state(teacher)["students"]] == [False, True])


def test_the_teachers_page_shows_all_changes_of_a_second_together(room, loop):
    asked = []
    with over_zoo(loop, "average") as teacher:
        tab = TeacherTab(teacher, room, lambda *call: asked.append(call))
        for token in "abc":
            room.join(token)
        ((seconds, show),) = asked
        assert seconds == PACE
        assert teacher.classroom.students == ()
        show()
        assert len(teacher.classroom.students) == 3
        room.leave("a")
        assert len(asked) == 2
        tab.close()
        before = teacher.classroom
        asked[1][1]()
        assert teacher.classroom is before


def test_a_student_who_returns_has_the_answers_again(room, loop):
    with over_zoo(loop, "average") as first:
        tab = StudentTab(first, room)
        tab.connect("a")
        first.dispatch(act.SetAuthor("Mia"))
        statement(first, 0, 1, 2)
        tab.close()
    with over_zoo(loop, "average") as again:
        tab = StudentTab(again, room)
        tab.connect("a")
        assert again.session.author == "Mia"
        assert [c.statement for c in again.session.constraints] == [((0, 1), 2)]
        statement(again, 3, 4, 5)
    with over_zoo(loop, "average", "iris") as other:  # an empty tab about other items
        StudentTab(other, room).connect("a")
        assert not other.session.constraints
    (student,) = room.students
    assert [c.statement for c in student.constraints] == [((0, 1), 2), ((3, 4), 5)]


def test_answers_of_the_served_session_are_not_the_students(room, loop):
    with over_zoo(loop, "average") as store:
        statement(store, 0, 1, 2)
        StudentTab(store, room).connect("a")
        statement(store, 3, 4, 5)
    (student,) = room.students
    assert [c.statement for c in student.constraints] == [((3, 4), 5)]


def test_the_qr_code_is_a_path():
    found = model.qr_path("http://192.168.1.5:5006")
    assert found["size"] == 25
    assert found["path"].startswith("M0 0h1v1h-1z")


class _Actions:
    def __init__(self, store):
        self.store = store

    def select_items(self, leaves):
        raise AssertionError
