"""Charts: what has room in them, and what is said where there is no number."""

import re

import pytest

import cbpe
from cbpe.measures.charts import KEY, draw_sweep, in_a_chart, laid_out, legend_columns
from cbpe.views.names import width

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

CHINESE = "大规模中文分词器模型版本第{}号用于训练数据"
FULL_WIDTH = 8 / 72  # inches that a Chinese character takes in the charts' letters
APART = 0.14  # inches between two names of these letters


def test_names_of_chinese_characters_count_twice():
    names = in_a_chart([CHINESE.format(number) for number in "一二三四"])
    assert len({*names}) == 4
    assert max(map(width, names)) <= 25
    n_beside = legend_columns(names, 8.0)
    assert n_beside * (FULL_WIDTH * max(map(len, names)) + KEY) <= 8.0
    layout = laid_out(6, 2, in_a_chart([f"大规模中文语料库数据集第{i}部分网页文本" for i in range(16)]))
    assert layout.rotation == 90
    assert layout.row_height >= 2.0 + FULL_WIDTH * max(map(len, names))


@pytest.fixture
def figures(monkeypatch):
    """What was drawn, as matplotlib has it."""
    from matplotlib.figure import Figure

    drawn = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *args, **kw: (drawn.append(self), save(self, *args, **kw)))
    return drawn


def boxes_of(figure):
    """The boxes of all legends and titles in pixels, and that of the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    parts = [*figure.legends, *([figure._suptitle] if figure._suptitle else [])]
    return [part.get_window_extent(renderer) for part in parts], figure.bbox


@pytest.mark.filterwarnings("ignore:no font here")
@pytest.mark.parametrize("name", ["MODEL_NAME_" * 9, "中文分词器模型" * 10, "a" * 300])
def test_a_legend_and_a_title_are_no_wider_than_the_picture(figures, name):
    tok = cbpe.train("low lower lowest", 259)
    cbpe.sweep(tok, {f"{CHINESE.format(i)}": "low" for i in range(6)}, name=name).plot()._repr_mimebundle_()
    cbpe.compare({CHINESE.format(i): tok for i in range(4)}, {"a": "low"}).plot()._repr_mimebundle_()
    alike = {"名" * 40 + str(i) + "字" * 40: tok for i in range(2)}  # but in their middle
    cbpe.compare(alike, {"a": "low"}).plot()._repr_mimebundle_()
    for figure in figures:
        boxes, whole = boxes_of(figure)
        assert all(box.x0 >= 0 and box.x1 <= whole.width for box in boxes)
    (title,) = [said for said in re.findall(r">([^<>]*)</text>", svg_of(tok, name)) if said[:1] == "…"]
    assert name.endswith(title[1:])
    assert width(title) <= 80


def svg_of(tok, name):
    return cbpe.sweep(tok, {"a": "low"}, name=name).plot().svg.decode()


@pytest.mark.parametrize("n", [26, 36, 60, 400])
def test_the_names_below_the_charts_of_one_tokenizer_lie_apart(n):
    layout = laid_out(6, 1, [f"part {i}" for i in range(n)])
    assert (layout.width / layout.n_columns - 0.6) / n >= APART - 1e-9
    assert layout.rotation == 90


def test_more_names_than_a_picture_has_room_for_are_told():
    with pytest.warns(UserWarning, match="has 1,000 names below each chart, which lie on each other"):
        laid_out(6, 1, [f"part {i}" for i in range(1000)])


def test_names_that_are_turned_or_stand_upright_take_no_room_from_the_charts(figures):
    sizes = []
    for n, longer in ((6, 1), (6, 20), (16, 1), (16, 20)):
        corpora = {f"{i} {'x' * longer}": "low" for i in range(n)}
        cbpe.compare({"a": cbpe.BasicTokenizer()}, corpora).plot()
        axes, (width_of, height) = figures[-1].axes[0].get_position(), figures[-1].get_size_inches()
        sizes.append((width_of * axes.width, height * axes.height))
    assert all(wide > 2.8 and high > 1.6 for wide, high in sizes), sizes


def test_a_chart_without_a_number_says_so_and_has_no_values_beside_its_axes(figures):
    found = cbpe.sweep(cbpe.train("low lower lowest", 259), {"blank": "   "})
    draw_sweep(found.rows)
    of_bytes, fertility, used = figures[0].axes
    assert [said.get_text() for said in fertility.texts] == ["nothing to measure"]
    assert not [*fertility.get_xticks(), *fertility.get_yticks()]
    assert not fertility.get_xlabel()
    for axes in (of_bytes, used):
        assert not axes.texts
        assert len(axes.get_yticks())


def test_no_value_below_0_stands_beside_shares_that_are_all_0(figures):
    found = cbpe.sweep(cbpe.train("low lower lowest", 259), {"empty": ""})
    draw_sweep(found.rows)
    *unmeasured, used = figures[0].axes
    assert [axes.texts[0].get_text() for axes in unmeasured] == ["nothing to measure"] * 2
    assert used.get_ylim()[0] == 0


def test_large_values_have_commas_beside_the_axis_and_in_the_title():
    text = "a" * 20_000
    with pytest.warns(UserWarning, match="training stopped"):
        tok = cbpe.train(text, 300, pattern=None)
    drawn = tok.training.plot().svg.decode()
    assert ">20,000 bytes: 20,000.00 bytes per token<" in drawn
    assert ">20,000</text>" in drawn
    assert "from 1.00 to 20,000.00" in tok.training._repr_html_()
    assert "20,000 bytes, 20,000.00 bytes per token" in tok.show(text)._repr_html_()
    swept = cbpe.sweep(tok, {"a": text * 100}).plot().svg.decode()
    for svg in (drawn, swept):
        assert not re.findall(r">(?:\d{4,}(?:\.\d+)?|\+?1e.*)</text>", svg)
