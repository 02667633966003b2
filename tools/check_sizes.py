"""Fail where a file has more than 400 lines or a function more than 50.

A Python function is counted without its docstring. C++ functions are found by matching braces in
text freed of comments and literals: a brace opened at namespace or class level, after a parameter
list, opens a function. That is enough for code laid out by clang-format.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "cpp", "tests", "tools", "benchmarks", "examples")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50

Function = tuple[int, int, str]  # first line, number of lines, name

# Raw strings first: they may hold quotes. Everything else ends at its own delimiter.
NOT_CODE = re.compile(
    r'R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"'
    r"|//[^\n]*|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*\#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
SCOPE = re.compile(
    r"^(?:.*\s)?(?:namespace|class|struct|union|enum|extern)\b(?![^{]*\)\s*\w*$)", re.S
)

ACCESS = re.compile(r"^\s*(?:(?:public|protected|private):\s*)?")


def python_functions(text: str) -> Iterator[Function]:
    """Yield each function of a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                docstring = node.body[0]
                lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
            yield node.lineno, lines, node.name


def blank(match: re.Match[str]) -> str:
    """Replace a comment or literal by its line breaks, so that line numbers hold."""
    return "\n" * match.group().count("\n")


def function_name(head: str) -> str:
    """Return the name before a parameter list, or "" where the text heads no function."""
    if "(" not in head or SCOPE.search(head) or head.rstrip().endswith("="):
        return ""
    name = re.search(r"(?:operator\s*\S+?|[\w:~]+)\s*\(", head)
    return name.group().rstrip("( \n") if name else "lambda"


def cpp_functions(text: str) -> Iterator[Function]:
    """Yield each function of a C++ file; what is nested in a function is part of it."""
    code = NOT_CODE.sub(blank, text)
    head_start, depth = 0, 0
    function_depth = None
    first_line, name = 0, ""
    for match in re.finditer(r"[{};]", code):
        position, sign = match.start(), match.group()
        if sign == "{":
            depth += 1
            # `: size_{n}` in a constructor's head touches its brace; a body stands apart.
            initializer = position > 0 and not code[position - 1].isspace()
            if function_depth is None and not initializer:
                head = code[head_start:position]
                if name := function_name(head):
                    function_depth = depth
                    start = head_start + len(head) - len(ACCESS.sub("", head))
                    first_line = code.count("\n", 0, start) + 1
                head_start = match.end()
            continue
        if sign == "}":
            if depth == function_depth:
                yield first_line, code.count("\n", 0, position) + 2 - first_line, name
                function_depth = None
            elif function_depth is None and code.startswith((",", ")", " {"), position + 1):
                depth -= 1
                continue  # the end of an initializer: the head goes on
            depth -= 1
        head_start = match.end()


def offences(path: Path) -> Iterator[str]:
    """Yield one line for each limit that a file exceeds."""
    text = path.read_text(encoding="utf-8")
    where = path.relative_to(ROOT)
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{where}: {lines} lines (at most {MAX_FILE_LINES})"
    functions = python_functions if path.suffix == ".py" else cpp_functions
    for line, length, name in functions(text):
        if length > MAX_FUNCTION_LINES:
            yield f"{where}:{line}: {name} has {length} lines (at most {MAX_FUNCTION_LINES})"


def main() -> int:
    """Check the whole project; return the exit status."""
    paths = sorted(
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".cpp", ".hpp"}
    )
    found = [offence for path in paths for offence in offences(path)]
    print(*found, f"sizes: {len(paths)} files, {len(found)} over the limits", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
