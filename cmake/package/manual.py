"""Writes the man page and the completions of bash and zsh, with the options that the program prints.

usage: manual.py PROGRAM FOLDER
FOLDER gets warpscope.1.gz, warpscope (bash) and _warpscope (zsh). Options, their values and the
parameters of experiments come from `PROGRAM --help` and `PROGRAM --list`.
"""
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

TEMPLATE = Path(__file__).parent / "warpscope.1.in"
OPTION = re.compile(r" +(-[^\s,]+(?:, *--\S+)?)(?: (\S.*?))?(?: {2,}(\S.*))?")
WORD = r"[a-z][a-z-]*"
# The values in a description: "order of emulated warps: random, run-to-barrier or reverse".
VALUES = re.compile(rf"(?:.*: )?((?:{WORD}, )+(?:cuda:N or )?{WORD}(?: or {WORD})?|{WORD} or {WORD})"
                    r"(?: \(.*\))?")


class Option(NamedTuple):
    names: list   # ["-h", "--help"]
    value: str    # "FILE.png"; empty: a flag
    about: str

    def values(self, experiments):
        """The words that it takes; none where anything else may stand."""
        if self.names == ["--experiment"]:
            return [e["id"] for e in experiments]
        if re.fullmatch(r"[a-z]+(\|[a-z]+)+", self.value):
            return self.value.split("|")
        listed = VALUES.fullmatch(self.about) if self.value and not self.files() else None
        words = re.split(", | or ", listed.group(1)) if listed else []
        return [word for word in words if word != "cuda:N"]

    def files(self):
        """"*", "*.cu", "/" for folders; empty: it takes no file."""
        name = re.fullmatch(r"FILE(\.\w+)?(\|-)?|(DIR)", self.value)
        return "" if not name else "/" if name.group(3) else f"*{name.group(1) or ''}"

    def many(self):
        return self.value.endswith(",...")


def read_help(text):
    """([(heading, [Option])], [paragraph after the options])."""
    body, footer = text.split("\nExamples:\n")
    groups = []
    for line in body.splitlines():
        option = OPTION.fullmatch(line)
        if re.fullmatch(r"\S.*:", line):
            groups.append((line[:-1], []))
        elif option and groups:
            names, value, about = option.groups(default="")
            groups[-1][1].append(Option(re.split(", *", names), value, about))
        elif line.startswith(" ") and groups:
            last = groups[-1][1]
            last[-1] = last[-1]._replace(about=f"{last[-1].about} {line.strip()}".strip())
    return groups, footer.rstrip("\n").split("\n\n")


def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"), flags=re.M)


def man_page(groups, footer, version):
    options = ""
    for heading, members in groups:
        options += f".SS {roff(heading)}\n"
        for option in members:
            names = ", ".join(rf"\fB{roff(name)}\fR" for name in option.names)
            value = rf" \fI{roff(option.value)}\fR" if option.value else ""
            options += f".TP\n{names}{value}\n{roff(option.about)}\n"
    examples, *notes, status = footer
    parts = {"version": version, "options": options, "examples": roff(examples) + "\n",
             "notes": ".PP\n".join(roff(note) + "\n" for note in notes),
             "status": roff(status.removeprefix("Exit status: ")) + "\n"}
    return re.sub(r"@(\w+)@\n?", lambda part: parts[part.group(1)], TEMPLATE.read_text())


def parameter_values(parameter):
    return parameter["range"].split("|") if parameter["type"] in ("choice", "toggle") else []


BASH = r"""# Completion of warpscope for bash, written from what --help and --list print.

_warpscope() {
    local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    # bash takes the sign of --set ripple.sync=off and of --device=cuda for a word.
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[at - 2]}
    fi
    local words= first= kind=
    case $before in
@cases@
        *) words='@options@' ;;
    esac
    case $kind in
        some) [[ $word != *,* ]] || first=${word%,*}, ;;
        parameter) compopt -o nospace 2>/dev/null ;;
        -*) compopt -o filenames 2>/dev/null ;;
    esac
    case $kind in
        -d) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        -f*) mapfile -t COMPREPLY < <(compgen -d -- "$word"; compgen -f -X "!${kind#-f}" -- "$word" |
            while IFS= read -r file; do [[ -d $file ]] || printf '%s\n' "$file"; done) ;;
        *) mapfile -t COMPREPLY < <(compgen -P "$first" -W "$words" -- "${word#"$first"}") ;;
    esac
}

complete -F _warpscope warpscope
"""


def bash(options, experiments):
    cases, parameters = [], []
    for option in options:
        label = "|".join(option.names)
        words, files = option.values(experiments), option.files()
        if option.names == ["--set"]:
            parameters = [p for e in experiments for p in e["parameters"]]
            words = [p["id"] + "=" for p in parameters]
            cases.append(f"{label}) kind=parameter words='{' '.join(words)}' ;;")
        elif files:
            cases.append(f"{label}) kind='{'-d' if files == '/' else '-f' + files}' ;;")
        elif option.value:
            kind = "kind=some " if option.many() else ""
            cases.append(f"{label}) {kind}words='{' '.join(words)}' ;;")
    cases += [f"{p['id']}) words='{' '.join(parameter_values(p))}' ;;" for p in parameters]
    parts = {"cases": "\n".join(" " * 8 + case for case in cases),
             "options": " ".join(name for option in options for name in option.names)}
    return re.sub(r"@(\w+)@", lambda part: parts[part.group(1)], BASH)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_text(text):
    """Text in the brackets of a specification of _arguments or _values."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def zsh_action(option, experiments):
    words, files = option.values(experiments), option.files()
    if option.names == ["--set"]:
        return "_warpscope_parameter"
    if files:
        return "_files -/" if files == "/" else f'_files -g "{files}"' if files != "*" else "_files"
    if option.many():
        return f"_values -s , value {' '.join(words)}"
    return f"({' '.join(words)})" if words else " "


def zsh(options, experiments):
    lines = []
    for option in options:
        spec = f"[{zsh_text(option.about)}]"
        if option.value:
            spec += f":{zsh_text(option.value)}:{zsh_action(option, experiments)}"
        often = "*" if "..." in option.value.split() else ""
        if len(option.names) > 1:
            lines.append(f"'({' '.join(option.names)})'{{{','.join(option.names)}}}{quoted(spec)}")
        else:
            lines.append(quoted(often + option.names[0] + spec))
    parameters = [quoted(f"{p['id']}[{zsh_text(p['help'])}]:value:"
                         f"({' '.join(parameter_values(p))})")
                  for e in experiments for p in e["parameters"]]
    join = " \\\n        ".join
    return ("#compdef warpscope\n# Completion of warpscope for zsh, written from what --help and "
            "--list print.\n\n(( $+functions[_warpscope_parameter] )) ||\n"
            f"_warpscope_parameter() {{\n    _values parameter \\\n        {join(parameters)}\n}}\n\n"
            f"_arguments \\\n        {join(lines)}\n")


def printed(program, *arguments):
    return subprocess.run([program, *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def main(program, folder):
    groups, footer = read_help(printed(program, "--help"))
    options = [option for _, members in groups for option in members]
    experiments = json.loads(printed(program, "--list", "--json", "-"))["experiments"]
    version = printed(program, "--version").split()[-1]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    page = man_page(groups, footer, version).encode()
    (folder / "warpscope.1.gz").write_bytes(gzip.compress(page, 9, mtime=0))
    (folder / "warpscope").write_text(bash(options, experiments))
    (folder / "_warpscope").write_text(zsh(options, experiments))


if __name__ == "__main__":
    main(*sys.argv[1:])
