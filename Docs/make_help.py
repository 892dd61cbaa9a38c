#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: make_help.py PANEL.xml GUIDE.md FOLDER NAME: the plugin's pages for ParaView's help window, as HTML.

  FOLDER/index.html                the user's guide, with its pictures
  FOLDER/GROUP.PROXY.html          for each proxy of the panel's XML with a label: what the "?" of its panel opens
  FOLDER/NAME.qch                  all of these in one file, as Qt's help generator makes it: what the window reads

ParaView on Debian shows them with Qt's text browser, which knows simple HTML only; that and the Markdown that the guide is
written in are all that this script knows.
"""
import html
import os
import re
import shutil
import sqlite3
import struct
import sys
import zlib
import xml.etree.ElementTree as ElementTree

PICTURE_WIDTH = 640  # at most: the window does not shrink pictures


def picture(path, folder, text):
    with open(os.path.join(folder, path), "rb") as stream:
        width = struct.unpack(">8x4x4xI", stream.read(20))[0]  # of a PNG
    return f'<img src="{path}" width="{min(width, PICTURE_WIDTH)}" alt="{text}">'


def inline(text, folder=""):
    """Markdown within a line; the folder is where its pictures are."""
    parts = re.split(r"(`[^`]+`)", text)
    for index, part in enumerate(parts):
        if part.startswith("`") and len(part) > 2:
            parts[index] = f"<code>{html.escape(part[1:-1])}</code>"
            continue
        part = html.escape(part, quote=False)
        part = re.sub(r"!\[([^\]]*)\]\(([^)]+)\)", lambda found: picture(found[2], folder, found[1]), part)
        part = re.sub(r"\[([^\]]+)\]\(((?:#|https?:)[^)]*)\)", r'<a href="\2">\1</a>', part)
        part = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", part)  # files that are not in the help
        part = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", part)
        parts[index] = re.sub(r"(?<![\w*])\*([^*]+)\*(?![\w*])", r"<i>\1</i>", part)
    return "".join(parts)


def anchor(title):
    """The name that Markdown's headings are linked by."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def table(lines):
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
    result = ['<table border="1" cellspacing="0" cellpadding="4">']
    for number, row in enumerate(row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)):
        tag = "th" if number == 0 else "td"
        cells = "".join(f"<{tag} align=\"left\">{inline(cell)}</{tag}>" for cell in row)
        result.append(f"<tr>{cells}</tr>")
    return "\n".join([*result, "</table>"])


def block(lines, folder):
    """One block of Markdown: what stands between empty lines."""
    first = lines[0]
    heading = re.match(r"(#+) (.*)", first)
    if heading:
        level, title = len(heading.group(1)), heading.group(2)
        rest = block(lines[1:], folder) if lines[1:] else ""
        return f'<h{level}><a name="{anchor(title)}"></a>{inline(title)}</h{level}>\n{rest}'
    if first.startswith("|"):
        return table(lines)
    if first.startswith("    "):
        return f"<pre>{html.escape(chr(10).join(line[4:] for line in lines))}</pre>"
    if first.startswith("- "):
        items = re.split(r"(?m)^- ", "\n".join(lines))[1:]
        return "<ul>" + "".join(f"<li>{inline(' '.join(item.split()))}</li>" for item in items) + "</ul>"
    return f"<p>{inline(' '.join(line.strip() for line in lines), folder)}</p>"


def blocks(text, folder):
    """The blocks of a Markdown text as HTML."""
    result, lines, fence = [], [], None
    for line in text.splitlines() + [""]:
        if line.startswith("```"):
            if fence is not None:
                result.append(f"<pre>{html.escape(chr(10).join(fence))}</pre>")
            fence = [] if fence is None else None
        elif fence is not None:
            fence.append(line)
        elif line.strip():
            lines.append(line)
        elif lines:
            result.append(block(lines, folder))
            lines = []
    return "\n".join(result)


def page(title, body):
    return (f'<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"><title>{title}</title>'
            f"</head>\n<body>\n{body}\n</body></html>\n")


def documentation(element):
    text = element.findtext("Documentation") or ""
    return inline(" ".join(text.split()))


def defaults(prop):
    """The default value as the panel shows it."""
    value = prop.get("default_values", "")
    for entry in prop.iter("Entry"):
        if entry.get("value") == value:
            return entry.get("text")
    if prop.find("BooleanDomain") is not None:
        return {"0": "off", "1": "on"}.get(value, value)
    return value


def label(element):
    return element.get("label") or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", element.get("name"))


def proxy_page(proxy):
    rows = [f'<tr><th align="left">Property</th><th align="left">Default</th><th align="left">What it does</th></tr>']
    for prop in proxy:
        if "Property" in prop.tag and prop.find("Documentation") is not None:
            rows.append(f"<tr><td><b>{label(prop)}</b><br>{prop.get('name')}</td><td>{defaults(prop)}</td>"
                        f"<td>{documentation(prop)}</td></tr>")
    table_of_all = '<table border="1" cellspacing="0" cellpadding="4">\n' + "\n".join(rows) + "\n</table>"
    return page(label(proxy), f"<h1>{label(proxy)}</h1>\n<p>{documentation(proxy)}</p>\n"
                '<p>More is in the <a href="index.html">user\'s guide</a>. Small below each label: the name in '
                f"scripts that use SetPropertyWithName, and in state files.</p>\n{table_of_all}")


# Qt's compressed help, version 1.0: an SQLite database. Keywords and filters have tables too, which are empty here.
TABLES = """
CREATE TABLE NamespaceTable (Id INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE FilterAttributeTable (Id INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE FilterNameTable (Id INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE FilterTable (NameId INTEGER, FilterAttributeId INTEGER);
CREATE TABLE IndexTable (Id INTEGER PRIMARY KEY, Name TEXT, Identifier TEXT, NamespaceId INTEGER, FileId INTEGER,
  Anchor TEXT);
CREATE TABLE IndexFilterTable (FilterAttributeId INTEGER, IndexId INTEGER);
CREATE TABLE ContentsTable (Id INTEGER PRIMARY KEY, NamespaceId INTEGER, Data BLOB);
CREATE TABLE ContentsFilterTable (FilterAttributeId INTEGER, ContentsId INTEGER);
CREATE TABLE FileAttributeSetTable (Id INTEGER, FilterAttributeId INTEGER);
CREATE TABLE FileDataTable (Id INTEGER PRIMARY KEY, Data BLOB);
CREATE TABLE FileFilterTable (FilterAttributeId INTEGER, FileId INTEGER);
CREATE TABLE FileNameTable (FolderId INTEGER, Name TEXT, FileId INTEGER, Title TEXT);
CREATE TABLE FolderTable (Id INTEGER PRIMARY KEY, Name TEXT, NamespaceID INTEGER);
CREATE TABLE MetaDataTable (Name TEXT, Value BLOB);
INSERT INTO MetaDataTable VALUES ('qchVersion', '1.0');
INSERT INTO FileDataTable VALUES (1, NULL);
INSERT INTO FileNameTable VALUES (0, '', 1, '');
"""


def contents(entries):
    """The table of contents as Qt streams it: depth, page, title of each entry; UTF-16 texts after their byte counts."""
    texts = [(depth, page.encode("utf-16-be"), title.encode("utf-16-be")) for depth, page, title in entries]
    return b"".join(struct.pack(">iI", depth, len(page)) + page + struct.pack(">I", len(title)) + title
                    for depth, page, title in texts)


def make_collection(folder, name, pages, pictures):
    """FOLDER/NAME.qch with pages and pictures of the folder, below qthelp://NAME.org/NAME/."""
    path = os.path.join(folder, f"{name}.qch")
    if os.path.exists(path):
        os.remove(path)
    database = sqlite3.connect(path)
    database.executescript(TABLES)
    database.execute("INSERT INTO NamespaceTable VALUES (1, ?)", (f"{name}.org",))
    database.execute("INSERT INTO FolderTable VALUES (1, ?, 1)", (name,))
    database.execute("INSERT INTO ContentsTable VALUES (1, 1, ?)", (contents(
        [(0, "index.html", "PMB Contour"), (1, "filters.PMBContour.html", "The panel's properties")]),))
    for number, file in enumerate(sorted([*pages, *pictures]), 2):
        with open(os.path.join(folder, file), "rb") as stream:
            data = stream.read()
        title = re.search("<title>(.*?)</title>", pages[file]) if file in pages else None
        database.execute("INSERT INTO FileDataTable VALUES (?, ?)",
                         (number, struct.pack(">I", len(data)) + zlib.compress(data)))  # as qCompress()
        database.execute("INSERT INTO FileNameTable VALUES (1, ?, ?, ?)",
                         (file, number, html.unescape(title[1]) if title else file))
    database.commit()
    database.close()


def main(panel, guide, folder, collection):
    os.makedirs(folder, exist_ok=True)
    with open(guide, encoding="utf-8") as stream:
        text = stream.read()
    pages = {"index.html": page("PMB Contour: user's guide", blocks(text, os.path.dirname(guide)))}
    for group in ElementTree.parse(panel).getroot().iter("ProxyGroup"):
        for proxy in group:
            if proxy.get("label") and proxy.find("Documentation") is not None:
                pages[f"{group.get('name')}.{proxy.get('name')}.html"] = proxy_page(proxy)
    for name, content in pages.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
            stream.write(content)
    pictures = set(re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text))
    for name in pictures:
        shutil.copy(os.path.join(os.path.dirname(guide), name), folder)
    make_collection(folder, collection, pages, pictures)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    main(*sys.argv[1:])
