#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The listing of OCP's interface as a table: names, values, sizes, offsets, prototypes.

listing.py LISTING.md >api.txt	what is in the listing
listing.py -c api.txt		a program of C or C++ that holds our headers against the table

The listing names types and values; sizes and offsets are computed here by the rules of the
x86-64 System V ABI, not by a compiler that has seen our headers. One fact a line:
	header NAME | const NAME VALUE | size TYPE BYTES | field TYPE FIELD OFFSET BYTES
	call PROTOTYPE
"""
import re
import sys

SIZES = {"uint8_t": (1, 1), "uint16_t": (2, 2), "uint32_t": (4, 4), "uint64_t": (8, 8),
         "int": (4, 4), "unsigned int": (4, 4), "float": (4, 4),
         "struct ibv_qp_cap": (20, 4), "union ibv_gid": (16, 8),
         "mrc_ctl_ev_t": (32, 1)}
NUMBERS = {}


def size_of(kind):
    if "*" in kind:
        return 8, 8
    if kind.startswith("enum "):
        return 4, 4
    return SIZES[kind]


def value_of(text):
    return eval(text, {"__builtins__": {}}, NUMBERS)  # "1 << 3", of our own listing


def round_up(n, to):
    return (n + to - 1) // to * to


def signed(n):
    """Of an enumerator: an int."""
    return n - (1 << 32) if n >= 1 << 31 else n


class Fields:
    """What stands between the braces of a struct or union."""

    def __init__(self, text):
        self.left = re.findall(r"[A-Za-z_]\w*|[{}\[\];*]|\d+", text)

    def next(self):
        return self.left.pop(0)

    def body(self, union):
        """Up to the closing brace: ([(field, offset, size)], size, alignment)."""
        out, at, end, align = [], 0, 0, 1
        while self.left and self.left[0] != "}":
            name, size, one, inner = self.member()
            at = 0 if union else round_up(at, one)
            out.append((name, at, size))
            out += [("%s.%s" % (name, n), at + o, s) for n, o, s in inner]
            at += size
            end, align = max(end, at), max(align, one)
        return out, round_up(end, align), align

    def member(self):
        words, inner, size, one = [], [], None, None
        while self.left[0] not in (";", "["):
            word = self.next()
            if word == "{":
                inner, size, one = self.body(words[-1] == "union")
                assert self.next() == "}"
                words = []
            else:
                words.append(word)
        name = words.pop()
        if size is None:
            size, one = size_of(" ".join(words))
        if self.left[0] == "[":
            self.next()
            number = self.next()
            size *= NUMBERS.get(number) or int(number)
            assert self.next() == "]"
        assert self.next() == ";"
        return name, size, one, inner


def table_of(listing):
    versioned = re.compile(r"#if [^}]*?\) (enum [^;]*;) #endif")
    for line in listing[listing.index("# The listing"):].split("\n"):
        if line.startswith("## "):
            yield "header %s" % line[3:]
        elif line.startswith("- macro"):
            name, value = re.findall(r"`([^`]*)`", line)
            if value.isdigit():
                NUMBERS[name] = int(value)
                yield "const %s %s" % (name, value)
        elif line.startswith("- `enum"):
            for name, value in re.findall(r"(MRC\w+)=([^,]+)", line):
                yield "const %s %d" % (name, signed(value_of(value)))
        elif re.match(r"- `struct \w+` \{", line):
            kind, text = re.match(r"- `(struct \w+)` \{ (.*) \}", line).groups()
            fields, size, align = Fields(versioned.sub(r"\1", text)).body(False)
            SIZES[kind] = size, align
            yield "size %s %d" % (kind.replace(" ", "~"), size)
            for field in fields:
                yield "field %s %s %d %d" % (kind.replace(" ", "~"), *field)
        elif re.match(r"- `.*\)`", line):
            yield "call %s" % re.match(r"- `(.*)`", line).group(1)


CHECK = {
    "header": '#include "{0}"',
    "const": 'MRC_CHECK((long long)({0}) == {1}LL, "{0}");',
    "size": 'MRC_CHECK(sizeof({0}) == {1}, "size of {0}");',
    "field": 'MRC_CHECK(offsetof({0}, {1}) == {2} && sizeof((({0} *)0)->{1}) == {3}, "{0}.{1}");',
}


def program_of(table):
    yield """/* Made by listing.py. */
#include <stddef.h>
#ifdef __cplusplus
#define MRC_CHECK(what, name) static_assert(what, name)
#define MRC_LINKAGE extern "C"
#else
#define MRC_CHECK(what, name) _Static_assert(what, name)
#define MRC_LINKAGE extern
#endif"""
    for line in table.split("\n"):
        what, _, rest = line.partition(" ")
        if what == "call":
            yield "MRC_LINKAGE %s;" % rest
        elif what:
            yield CHECK[what].format(*(word.replace("~", " ") for word in rest.split()))
    # Versions, and what has no number, by the words above the listing.
    for half in "", "CTL_":
        for name, version in (("API_CURRENT_VERSION", "1, 0, 1"),
                              ("API_LAST_SUPPORTED_VERSION", "0, 0, 0"),
                              ("API_VER_LATEST", "0xFFu, 0xFF, 0xFFFF"),
                              ("VENDOR_API_CURRENT_VERSION", "1, 0, 0"),
                              ("VENDOR_API_LAST_SUPPORTED_VERSION", "0, 0, 0")):
            a, b, c = (int(n.rstrip("u"), 0) for n in version.split(","))
            yield 'MRC_CHECK((uint32_t)MRC_%s%s == %du, "%s");' % (
                half, name, a << 24 | b << 16 | c, name)
        yield 'MRC_CHECK(MRC_%sAPI_VER(1, 2, 3) == 0x01020003, "");' % half
        yield 'MRC_CHECK(MRC_%sAPI_VER_USED == MRC_%sAPI_VER(1, 0, 1), "");' % (half, half)
    yield """int main(void)
{
	const struct mrc_ctl_ev ev = MRC_CTL_EV_UNPOPULATED;

	return ev.val[0] | ev.val[31] | ev.port;
}"""


def main(args):
    if args[0] == "-c":
        lines = program_of(open(args[1]).read())
    else:
        lines = table_of(open(args[0]).read())
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
