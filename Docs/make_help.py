#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: make_help.py PANEL.xml GUIDE.md FOLDER: the plugin's pages for ParaView's help window, as HTML.

  FOLDER/index.html                the user's guide, with its pictures
  FOLDER/GROUP.PROXY.html          for each proxy of the panel's XML with a label: what the "?" of its panel opens

ParaView on Debian shows them with Qt's text browser, which knows simple HTML only; that and the Markdown that the guide is
written in are all that this script knows.
"""
import html
import os
import re
import shutil
import struct
import sys
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


def main(panel, guide, folder):
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
    for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
        shutil.copy(os.path.join(os.path.dirname(guide), name), folder)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    main(*sys.argv[1:])
