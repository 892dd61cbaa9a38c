# SPDX-License-Identifier: BSD-3-Clause
"""The pages of ParaView's help window, as Docs/make_help.py makes them: all properties of the panel are on its page with
their texts, each link and picture of the guide leads somewhere, and the collection has all of them. test_gui.py tests that
ParaView reads it."""
import html
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib

from paraview import simple

from plugin_testing import HERE, equal, load_plugin, run, true

TOP = os.path.abspath(os.path.join(HERE, os.pardir, os.pardir))
PANEL = os.path.join(TOP, "Plugin", "PMBContour.xml")
GUIDE = os.path.join(TOP, "Docs", "USER_GUIDE.md")
SCRIPT = os.path.join(TOP, "Docs", "make_help.py")


def words(text):
    """The words of a page or a text, without mark-up."""
    text = re.sub(r"[*`]", " ", html.unescape(re.sub(r"</?\w[^>]*>", " ", text)))
    return re.sub(r"\s*([.,:;)])", r"\1", " ".join(text.split()))


def make_pages():
    """{name: bytes} of the files, after a check that the collection has the same files."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["python3", SCRIPT, PANEL, GUIDE, folder, "Name"], check=True)
        files = {name: pathlib.Path(folder, name).read_bytes() for name in os.listdir(folder)}
        database = sqlite3.connect(os.path.join(folder, "Name.qch"))
        packed = dict(database.execute("SELECT Name, Data FROM FileNameTable JOIN FileDataTable ON FileId = Id"
                                       " WHERE FolderId = 1"))
        database.close()
    del files["Name.qch"]
    equal(sorted(packed), sorted(files), "files in the collection")
    for name, content in files.items():
        equal(int.from_bytes(packed[name][:4], "big"), len(content), f"length of {name}")
        true(zlib.decompress(packed[name][4:]) == content, f"{name} is another in the collection")
    return files


def panel_page():
    """Each property in the panel of the loaded plugin, with its whole text."""
    page = words(make_pages()["filters.PMBContour.html"].decode())
    proxy = simple.PMBContour(Input=simple.Wavelet())
    element = ElementTree.parse(PANEL).getroot().find(".//*[@name='PMBContour']")
    names = {prop.get("name"): prop for prop in element if prop.find("Documentation") is not None}
    shown = 0
    for name in proxy.ListProperties():
        smproperty = proxy.GetProperty(name)
        internal = smproperty.SMProperty.GetXMLName()
        if smproperty.SMProperty.GetPanelVisibility() == "never":
            continue
        shown += 1
        true(internal in names, f"{internal} has no text")
        documentation = names[internal].findtext("Documentation")
        true(internal in page, f"{internal} is not on the page")
        true(words(documentation) in page, f"the text of {internal} is not on the page")
    true(shown > 15, f"{shown} properties are shown")


def guide_page():
    """No text of the guide is lost; links and pictures exist."""
    names = make_pages()
    page = names["index.html"].decode()
    targets = re.findall(r'<a href="([^"]+)"', page)
    true(len(targets) > 5, f"{len(targets)} links")
    for target in targets:
        if target.startswith("#"):
            equal(page.count(f'<a name="{target[1:]}">'), 1, f"places that {target} leads to")
    pictures = re.findall(r'<img src="([^"]+)"', page)
    true(pictures, "there are pictures")
    for picture in pictures:
        true(picture in names, f"the picture {picture} is there")
    for left in ("**", "](", "```", "|---"):
        true(left not in page, f"the page has Markdown's {left} in it")
    with open(GUIDE, encoding="utf-8") as stream:
        guide = stream.read()
    for row in re.findall(r"^\| (.*) \|$", guide, flags=re.MULTILINE):
        for cell in re.split(r"(?:^| )\| ", row):  # the first one may be empty
            text = words(re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", cell))
            true(text in words(page), f"{text!r} is not on the page")


load_plugin()
run(panel_page, guide_page, )
