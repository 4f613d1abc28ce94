/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a table in the words of others: entries of a man page, and the completion of bash, zsh and fish. The build
 * asks each program for its own (--describe), so that neither can say anything else than --help.
 */
#include "tool/common/options_describe.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/spoken.h"
#include "tool/common/options_help.h"

#define WORDS_BYTES 1024

/* Text between single quotes of a shell: `quote` stands for one, and a backslash before what is in `escaped`. */
static void print_quoted(const char *text, const char *quote, const char *escaped, FILE *out)
{
    for (; *text != 0; text++) {
        if (*text == '\'')
            fputs(quote, out);
        else if (strchr(escaped, *text) != NULL)
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

/* "both python native", of a choice */
static void print_choices(const option_row *row, FILE *out)
{
    for (size_t i = 0; row->words[i] != NULL; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", row->words[i]);
}

/* What a row says in one breath: up to its first semicolon, colon or bracket. */
static const char *write_gist(const char *help, char out[WORDS_BYTES])
{
    snprintf(out, WORDS_BYTES, "%.*s", (int)strcspn(help, ";:(\n"), help);
    for (size_t length = strlen(out); length > 0 && out[length - 1] == ' '; length--)
        out[length - 1] = 0;
    return out;
}

/* ---- A man page ---------------------------------------------------------------------------------------------------- */

static void print_roff(const char *text, FILE *out)
{
    for (bool is_first = true; *text != 0; text++, is_first = false) {
        if (is_first && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void print_sentence(const option_row *row, FILE *out)
{
    char words[WORDS_BYTES] = "";
    FILE *memory = fmemopen(words, sizeof words, "w");

    if (memory != NULL) {
        options_print_words(row, memory);
        fclose(memory);
    }
    assert(words[0] != 0);
    words[0] = (char)toupper((unsigned char)words[0]);
    print_roff(words, out);
    fputs(words[strlen(words) - 1] == '.' ? "\n" : ".\n", out);
}

static void print_entry(const option_row *row, FILE *out)
{
    if (row->name != NULL)
        fprintf(out, ".\\\" --%s\n.TP\n", row->name);
    else
        fprintf(out, ".\\\" -%c\n.TP\n", row->letter);
    if (row->letter != 0)
        fprintf(out, "\\fB\\-%c\\fR%s", row->letter, row->name == NULL ? "" : ", ");
    if (row->name != NULL) {
        fputs("\\fB\\-\\-", out);
        print_roff(row->name, out);
        fputs("\\fR", out);
    }
    if (row->argument != NULL) {
        fputs(" \\fI", out);
        print_roff(row->argument, out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_sentence(row, out);
    fputs(".\\\" .\n", out);
}

/* A place that is no option's: between `.\" = NAME` and `.\" .` */
static void print_man_quantities(const options_program *program, FILE *out)
{
    char words[OPTIONS_QUANTITIES_BYTES];

    options_say_quantities(program, words);
    if (words[0] == 0)
        return;
    fputs(".\\\" = quantities\n", out);
    print_roff(words, out);
    fputs("\n.\\\" .\n", out);
}

static void print_man_commands(const options_program *program, FILE *out)
{
    for (const option_command *command = program->commands; command != NULL && command->name != NULL; command++) {
        fprintf(out, ".\\\" = command %s\n.TP\n\\fB%s %s\\fR\n", command->name, program->name, command->name);
        fputc(toupper((unsigned char)command->help[0]), out);
        print_roff(command->help + 1, out);
        fputs(".\n.\\\" .\n", out);
    }
}

static void print_man_ends(const options_program *program, FILE *out)
{
    for (int code = 0; code < EXIT_CODE_COUNT; code++) {
        if (program->ends[code] == NULL)
            continue;
        fprintf(out, ".\\\" = exit %d\n.TP\n.B %d\n%c", code, code, toupper((unsigned char)program->ends[code][0]));
        print_roff(program->ends[code] + 1, out);
        fputs(".\n.\\\" .\n", out);
    }
}

static void describe_man(const options_program *program, FILE *out)
{
    print_man_quantities(program, out);
    print_man_commands(program, out);
    print_man_ends(program, out);
    for (size_t i = 0; i < program->row_count; i++)
        if (!program->rows[i].is_hidden)
            print_entry(&program->rows[i], out);
}

/* ---- bash ---------------------------------------------------------------------------------------------------------- */

/* "-o|--output" */
static void print_alternatives(const option_row *row, FILE *out)
{
    if (row->letter != 0)
        fprintf(out, "-%c%s", row->letter, row->name == NULL ? "" : "|");
    if (row->name != NULL)
        fprintf(out, "--%s", row->name);
}

static bool has_completion(const option_row *row)
{
    return row->kind == OPTION_CHOICE || row->kind == OPTION_FILE || row->kind == OPTION_FOLDER;
}

static void print_bash_argument(const option_row *row, FILE *out)
{
    fputs("    ", out);
    print_alternatives(row, out);
    fputs(")\n", out);
    if (row->kind == OPTION_CHOICE) {
        fputs("        mapfile -t COMPREPLY < <(compgen -W '", out);
        print_choices(row, out);
        fputs("' -- \"$word\")\n", out);
    } else {
        fputs("        compopt -o filenames 2>/dev/null\n", out);
        fprintf(out, "        mapfile -t COMPREPLY < <(compgen -%c -- \"$word\")\n",
                row->kind == OPTION_FILE ? 'f' : 'd');
    }
    fputs("        return\n        ;;\n", out);
}

static bool takes_argument(const option_row *row)
{
    return row->argument != NULL && !row->is_hidden;
}

static void print_bash_arguments(const options_program *program, FILE *out)
{
    const char *between = "    ";

    fputs("    case $before in\n", out);
    for (size_t i = 0; i < program->row_count; i++)
        if (takes_argument(&program->rows[i]) && has_completion(&program->rows[i]))
            print_bash_argument(&program->rows[i], out);
    for (size_t i = 0; i < program->row_count; i++)
        if (takes_argument(&program->rows[i]) && !has_completion(&program->rows[i])) {
            fputs(between, out);
            print_alternatives(&program->rows[i], out);
            between = "|";
        }
    fprintf(out, "%s    esac\n", between[0] == '|' ? ") return ;;\n" : "");
}

/* Behind its own options stands another's command line, which is completed as its own. */
static void print_bash_command(const options_program *program, FILE *out)
{
    fputs("    for ((at = 1; at < COMP_CWORD; at++)); do\n        case ${COMP_WORDS[at]} in\n        ", out);
    for (size_t i = 0; i < program->row_count; i++)
        if (takes_argument(&program->rows[i])) {
            print_alternatives(&program->rows[i], out);
            fputc('|', out);
        }
    fputs("=)\n            ((at++))\n            ;;\n"
          "        --) break ;;\n"
          "        -*) ;;\n"
          "        *)\n            ((at--))\n            break\n            ;;\n"
          "        esac\n    done\n"
          "    if ((at < COMP_CWORD)); then\n"
          "        if declare -F _command_offset >/dev/null; then\n"
          "            _command_offset $((at + 1))\n"
          "        elif ((at + 1 == COMP_CWORD)); then\n"
          "            mapfile -t COMPREPLY < <(compgen -c -- \"$word\")\n"
          "        else\n"
          "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "        fi\n"
          "        return\n"
          "    fi\n",
          out);
}

/* The first word that is no option is a command; from there on it is that program's own command line, completed as such.
 * What is behind "help" is a command again. */
static void print_bash_commands(const options_program *program, FILE *out)
{
    fprintf(out, "    if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W '");
    for (const option_command *command = program->commands; command->name != NULL; command++)
        fprintf(out, "%s ", command->name);
    for (size_t i = 0; i < program->row_count; i++)
        if (!program->rows[i].is_hidden)
            fprintf(out, "--%s%s", program->rows[i].name, i + 1 < program->row_count ? " " : "");
    fputs("' -- \"$word\")\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n    ", out);
    for (const option_command *command = program->commands; command->name != NULL; command++)
        fprintf(out, "%s%s", command == program->commands ? "" : "|", command->name);
    fprintf(
        out,
        ") ;;\n"
        "    *) return ;;\n"
        "    esac\n"
        "    local command=%s-${COMP_WORDS[1]} line=${COMP_LINE-} rest=(\"${COMP_WORDS[@]:2}\")\n"
        "    line=${line#*\"${COMP_WORDS[1]}\"}\n"
        "    local function=_${command//-/_} COMP_CWORD=$((COMP_CWORD - 1)) COMP_WORDS=(\"$command\" \"${rest[@]}\")\n"
        "    local COMP_LINE=$command$line COMP_POINT=$((${#command} + ${#line}))\n",
        program->name);
    fputs("    if ! declare -F \"$function\" >/dev/null; then\n"
          "        if declare -F _comp_load >/dev/null; then\n"
          "            _comp_load \"$command\"\n"
          "        elif declare -F __load_completion >/dev/null; then\n"
          "            __load_completion \"$command\"\n"
          "        elif type -P \"$command\" >/dev/null; then\n"
          "            eval \"$(\"$command\" --describe bash 2>/dev/null)\"\n"
          "        fi\n"
          "    fi\n"
          "    ! declare -F \"$function\" >/dev/null || \"$function\" \"$command\" \"$word\" \"$before\"\n",
          out);
}

static void print_bash_words(const options_program *program, FILE *out)
{
    fputs("    case $word in\n    -*) mapfile -t COMPREPLY < <(compgen -W '", out);
    for (size_t i = 0; i < program->row_count; i++) {
        const option_row *row = &program->rows[i];

        if (row->is_hidden)
            continue;
        if (row->name != NULL)
            fprintf(out, "%s--%s", i == 0 ? "" : " ", row->name);
        else
            fprintf(out, "%s-%c", i == 0 ? "" : " ", row->letter);
    }
    fprintf(out,
            "' -- \"$word\") ;;\n"
            "    *)\n"
            "        compopt -o filenames 2>/dev/null\n"
            "        mapfile -t COMPREPLY < <(compgen -%c -- \"$word\")\n"
            "        ;;\n"
            "    esac\n",
            program->takes_command ? 'c' : 'f');
}

/* "npumem_record", for the name of a function. */
static const char *write_function(const options_program *program, char out[64])
{
    snprintf(out, 64, "%s", program->name);
    for (char *dash = strchr(out, '-'); dash != NULL; dash = strchr(dash, '-'))
        *dash = '_';
    return out;
}

static void print_bash_own(const options_program *program, FILE *out)
{
    if (program->takes_command)
        print_bash_command(program, out);
    /* bash makes three words of --stacks=both. */
    fputs("    if [[ $word == = ]]; then\n"
          "        word=\n"
          "    elif [[ $before == = ]]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n",
          out);
    print_bash_arguments(program, out);
    print_bash_words(program, out);
}

static void describe_bash(const options_program *program, FILE *out)
{
    char function[64];

    write_function(program, function);
    fprintf(out,
            "# shellcheck shell=bash\n"
            "_%s() {\n"
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}%s\n"
            "    COMPREPLY=()\n",
            function, program->takes_command && program->commands == NULL ? " at" : "");
    if (program->commands != NULL)
        print_bash_commands(program, out);
    else
        print_bash_own(program, out);
    fprintf(out, "}\ncomplete -F _%s %s\n", function, program->name);
}
/* ---- zsh ----------------------------------------------------------------------------------------------------------- */

static void print_zsh_action(const option_row *row, FILE *out)
{
    fputs(":", out);
    print_quoted(row->argument, "'\\''", ":[]", out);
    fputs(":", out);
    if (row->kind == OPTION_FILE)
        fputs("_files", out);
    else if (row->kind == OPTION_FOLDER)
        fputs("_files -/", out);
    else if (row->kind == OPTION_CHOICE) {
        fputs("(", out);
        print_choices(row, out);
        fputs(")", out);
    }
}

/* "=" and "+": the argument may stand in the same word, too. */
static void print_zsh_row(const option_row *row, FILE *out)
{
    const char *same = row->argument != NULL ? "=" : "", *same_letter = row->argument != NULL ? "+" : "";
    char gist[WORDS_BYTES];

    fputs("    ", out);
    if (row->letter != 0 && row->name != NULL)
        fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", row->letter, row->name, row->letter, same_letter, row->name, same);
    else if (row->name != NULL)
        fprintf(out, "'%s--%s%s", row->is_repeatable ? "*" : "", row->name, same);
    else
        fprintf(out, "'-%c%s", row->letter, same_letter);
    fputs("[", out);
    print_quoted(write_gist(row->help, gist), "'\\''", ":[]", out);
    fputs("]", out);
    if (row->argument != NULL)
        print_zsh_action(row, out);
    fputs("' \\\n", out);
}

/* What is behind the command is told to be the command line of its program. */
static void print_zsh_commands(const options_program *program, FILE *out)
{
    char gist[WORDS_BYTES];

    fputs("    '1:command:((", out);
    for (const option_command *command = program->commands; command->name != NULL; command++) {
        fprintf(out, "%s%s\\:\"", command == program->commands ? "" : " ", command->name);
        print_quoted(write_gist(command->help, gist), "'\\''", ":[]()\"\\", out);
        fputs("\"", out);
    }
    fprintf(out, "))' \\\n    '*::arguments:->rest' && return\n"
                 "if [[ $state == rest ]]; then\n"
                 "    if [[ $words[1] == help ]]; then\n"
                 "        compadd -- ");
    for (const option_command *command = program->commands; command->name != NULL; command++)
        fprintf(out, "%s ", command->name);
    fprintf(out, "\n    else\n        words[1]=%s-$words[1]\n        _normal\n    fi\nfi\n", program->name);
}

static void describe_zsh(const options_program *program, FILE *out)
{
    if (program->commands != NULL)
        fputs("#compdef npumem\nlocal curcontext=$curcontext context state line\ntypeset -A opt_args\n", out);
    else
        fprintf(out, "#compdef %s\n", program->name);
    fprintf(out, "_arguments %s-s -S \\\n", program->commands != NULL ? "-C -A '-*' " : "");
    for (size_t i = 0; i < program->row_count; i++)
        if (!program->rows[i].is_hidden)
            print_zsh_row(&program->rows[i], out);
    if (program->commands != NULL)
        print_zsh_commands(program, out);
    else
        fputs(program->takes_command ? "    '*::command:_normal'\n" : "    '*:file:_files'\n", out);
}

/* ---- fish ---------------------------------------------------------------------------------------------------------- */

static void print_fish_row(const options_program *program, const option_row *row, FILE *out)
{
    char gist[WORDS_BYTES];

    fprintf(out, "complete -c %s", program->name);
    if (row->letter != 0)
        fprintf(out, " -s %c", row->letter);
    if (row->name != NULL)
        fprintf(out, " -l %s", row->name);
    if (row->kind == OPTION_CHOICE) {
        fputs(" -x -a '", out);
        print_choices(row, out);
        fputs("'", out);
    } else if (row->kind == OPTION_FILE) {
        fputs(" -r -F", out);
    } else if (row->kind == OPTION_FOLDER) {
        fputs(" -x -a '(__fish_complete_directories)'", out);
    } else if (row->argument != NULL) {
        fputs(" -x", out);
    }
    fputs(" -d '", out);
    print_quoted(write_gist(row->help, gist), "\\'", "\\", out);
    fputs("'\n", out);
}

static void print_fish_commands(const options_program *program, FILE *out)
{
    char gist[WORDS_BYTES];

    fprintf(out,
            "function __%s_rest\n"
            "    set -l words (commandline -opc)\n"
            "    complete -C (string join ' ' -- %s-$words[2] (string escape -- $words[3..-1]) (commandline -ct))\n"
            "end\n",
            program->name, program->name);
    for (const option_command *command = program->commands; command->name != NULL; command++) {
        fprintf(out, "complete -c %s -n '__fish_use_subcommand; or test (commandline -opc)[2] = help' -f -a %s -d '",
                program->name, command->name);
        print_quoted(write_gist(command->help, gist), "\\'", "\\", out);
        fputs("'\n", out);
    }
    fprintf(out,
            "complete -c %s -n 'not __fish_use_subcommand; and test (commandline -opc)[2] != help' -f -a "
            "'(__%s_rest)'\n",
            program->name, program->name);
}

static void describe_fish(const options_program *program, FILE *out)
{
    if (program->commands != NULL)
        print_fish_commands(program, out);
    else if (program->takes_command)
        fprintf(out, "complete -c %s -x -a '(__fish_complete_subcommand)'\n", program->name);
    for (size_t i = 0; i < program->row_count; i++)
        if (!program->rows[i].is_hidden)
            print_fish_row(program, &program->rows[i], out);
}

bool options_describe(const options_program *program, const char *what, FILE *out)
{
    static const struct {
        const char *name;
        void (*describe)(const options_program *program, FILE *out);
    } all[] = {{"man", describe_man}, {"bash", describe_bash}, {"zsh", describe_zsh}, {"fish", describe_fish}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(what, all[i].name) == 0) {
            nm_spoken_by(NULL); /* man pages and completions are English */
            all[i].describe(program, out);
            return true;
        }
    return false;
}
