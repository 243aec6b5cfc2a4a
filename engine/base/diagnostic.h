#pragma once

// What a user can cause is answered by a Diagnostic, never by an abort: what is wrong, where, what was expected, what
// to do next. The same struct is printed by the command line, listed in Problems and carried by Expected.

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace orrery {

enum class Severity { Note, Warning, Error };

/// Where something is wrong: a file position (1-based; 0 is unknown), a path inside a document
/// (`system/node/h100/hbm3.bandwidth`, an operator's name), or both.
struct Place {
    std::string file;
    int line = 0;
    int column = 0;
    std::string path;
    bool operator==(const Place&) const = default;
};

struct Diagnostic {
    Severity severity = Severity::Error;
    std::string code;      ///< stable, dotted, lower-case: `hardware.unknown-kind`
    std::string message;   ///< what is wrong, one sentence without a full stop
    std::string expected;  ///< what would have been right; may be empty
    std::string hint;      ///< what to do next; may be empty
    Place place;
    bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

template <class T>
using Expected = tl::expected<T, Diagnostic>;
using Unexpected = tl::unexpected<Diagnostic>;

/// An error to return from a function of Expected type: `return fail("unit.unknown", …)`.
Unexpected fail(std::string code, std::string message, std::string expected = {}, std::string hint = {},
                Place place = {});
Diagnostic warning(std::string code, std::string message, std::string hint = {}, Place place = {});

/// `file:line:column: path`, with the parts that are known; empty if none is.
std::string toText(const Place& place);
/// One to three lines for a terminal: `error: place: message`, `expected: …`, `hint: …`.
std::string toText(const Diagnostic& diagnostic);
std::string_view toText(Severity severity);

}  // namespace orrery
