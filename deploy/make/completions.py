"""Completions of commands, options, and the names of settings after --set, for bash, zsh and fish."""

import textwrap

NOTICE = "Completions of halite. Written by deploy/make from what the binary says; do not edit."


def takes_setting(entry):
    """--set, --from-set, --to-set: NAME=VALUE with the name of a setting."""
    return any(name == "--set" or name.endswith("-set") for name in entry.names)


def names(reference):
    return [setting.name for setting in reference.settings()]


def words_of(command):
    options = [name for each in command.options for name in each.names]
    return [each.names[0] for each in command.subcommands] + options


def wrapped(words, indent):
    return textwrap.fill(" ".join(words), 100, initial_indent=indent, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def bash(commands, reference):
    setters = sorted({name for command in commands for each in command.options if takes_setting(each)
                      for name in each.names})
    # Only options with a value, whose next word is neither a subcommand nor an option.
    valued = sorted({name for command in commands for each in command.options if each.value for name in each.names})
    paths = [" ".join(command.path) for command in commands if command.path]
    cases = ""
    for command in commands:
        cases += f'    "{" ".join(command.path)}") words="\n{wrapped(words_of(command), " " * 6)}" ;;\n'
    return f"""# {NOTICE}
_halite() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} path= words= at word
  for ((at = 1; at < COMP_CWORD; ++at)); do
    word=${{COMP_WORDS[at]}}
    case "${{path:+$path }}$word" in
      {" | ".join(f'"{path}"' for path in paths)})
        path="${{path:+$path }}$word" ;;
    esac
  done
  COMPREPLY=()
  case $previous in
    {" | ".join(setters)})
      compopt -o nospace
      mapfile -t COMPREPLY < <(compgen -S = -W "
{wrapped(names(reference), " " * 8)}" -- "$current")
      return ;;
    {" | ".join(name for name in valued if name not in setters)})
      return ;;  # a file, by default
  esac
  case $path in
{cases}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _halite halite
"""


def zsh_text(text):
    """A description between brackets, in single quotes."""
    return text.replace("\\", "\\\\").replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_option(entry):
    many = "*" if entry.notes.startswith("...") or takes_setting(entry) else ""
    action = ""
    if takes_setting(entry):
        action = ":setting:_halite_settings"
    elif entry.value == "TEXT":
        action = ":text:_files"
    elif entry.value:
        action = f":{entry.value.lower()}: "
    shut = "(" + " ".join(entry.names) + ")" if not many else ""
    first, *rest = (f"'{shut}{many}{name}[{zsh_text(entry.text)}]{action}'" for name in entry.names)
    return [first, *rest]


def zsh(commands, reference):
    out = f"""#compdef halite
# {NOTICE}

_halite_settings() {{
  local -a names=(
{wrapped(names(reference), " " * 4)}
  )
  compadd -S = -a names
}}
"""
    for command in commands:
        arguments = [line for each in command.options for line in zsh_option(each)]
        for each in command.positionals:
            many = "*" if each.notes.startswith("...") else ""
            arguments.append(f"'{many}:{each.names[0]}:_files'")
        function = "_".join(("_halite", *command.path)).replace("-", "_")
        if command.path == ():
            function = "_halite"
        out += f"\n{function}() {{\n"
        if command.subcommands:
            arguments += ["'1: :->command'", "'*:: :->arguments'"]
            lines = " \\\n    ".join(arguments)
            described = "\n".join(f"        '{each.names[0]}:{zsh_text(each.text)}'" for each in command.subcommands)
            cases = "\n".join(f"        {each.names[0]}) {function}_{each.names[0].replace('-', '_')} ;;"
                              for each in command.subcommands)
            out += f"""  local state line
  local -a commands
  _arguments -C \\
    {lines}
  case $state in
    command)
      commands=(
{described}
      )
      _describe command commands ;;
    arguments)
      case $line[1] in
{cases}
      esac ;;
  esac
}}
"""
        else:
            lines = " \\\n    ".join(arguments)
            out += f"  _arguments \\\n    {lines}\n}}\n"
    return out + '\n_halite "$@"\n'


def fish_text(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(commands, reference):
    settings = wrapped(names(reference), " " * 4).replace("\n", " \\\n")
    out = f"""# {NOTICE}
function __halite_settings
  printf '%s=\\n' \\
{settings}
end
"""
    for command in commands:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.path)
        below = " ".join(each.names[0] for each in command.subcommands)
        alone = f"not __fish_seen_subcommand_from {below}" if below else ""
        condition = "; and ".join(part for part in (seen, alone) if part)
        begin = f"complete -c halite -n '{condition}'"
        for each in command.subcommands:
            out += f"{begin} -f -a {each.names[0]} -d {fish_text(each.text)}\n"
        for each in command.options:
            for name in each.names:
                flag = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                value = " -r" if each.value else ""
                if takes_setting(each):
                    value = " -x -a '(__halite_settings)'"
                out += f"{begin} {flag}{value} -d {fish_text(each.text)}\n"
    return out
