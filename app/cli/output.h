#pragma once

// What a person sees in a terminal: aligned tables on standard output, diagnostics on standard error.

#include "base/diagnostic.h"
#include "methods/estimate.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery::cli {

/// Columns aligned by what they show on screen (UTF-8 aware); the numeric ones to the right.
class Table {
public:
    explicit Table(std::vector<std::string> heads, std::vector<bool> right = {});
    void add(std::vector<std::string> cells);
    std::string text() const;
    std::string body() const;  ///< without the heads
    bool empty() const { return rows_.empty(); }

private:
    std::string lines(bool withHeads) const;
    std::vector<std::vector<std::string>> rows_;
    std::vector<std::string> heads_;
    std::vector<bool> right_;
};

/// To standard error; in colour if that is a terminal and NO_COLOR is not set.
void report(const Diagnostic& diagnostic);
void report(const Diagnostics& diagnostics);
/// To standard error; a terminal or pipe that has gone is no error.
void say(std::string_view text);
/// To standard output. Returns false if it cannot be written (a full disk); where its reader has gone (`| head`), the
/// program ends quietly, by SIGPIPE.
bool print(std::string_view text);
/// `-` is standard output. Reports what goes wrong; returns whether it was written.
bool writeTo(const std::string& pathOrDash, std::string_view text);

std::string today();  ///< `2026-11-22`, in UTC

/// `[12.3 … 18.1]`, both ends in the unit in which the latency is printed.
std::string intervalText(const Estimate& estimate);
std::string count(double number);  ///< `4,089,184,256`

}  // namespace orrery::cli
