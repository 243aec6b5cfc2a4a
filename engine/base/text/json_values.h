#pragma once

// Reading back what Orrery wrote itself: members of objects by name, each of one type. The first thing that is wrong is
// kept, and every later read answers a harmless value, so that a reader asks for all it needs and looks once.

#include "base/text/json_node.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class JsonValues {
public:
    /// Both must outlive it. Problems have code `json.value` (another type) or `json.missing-key`, line and key.
    JsonValues(const JsonNode& object, std::optional<Diagnostic>& problem);

    bool has(std::string_view key) const;  ///< there and not null
    void need(std::initializer_list<std::string_view> keys) const;
    /// Without a fallback, the key must be there.
    double number(std::string_view key) const;
    double number(std::string_view key, double fallback) const;
    std::int64_t whole(std::string_view key) const;  ///< exact, and within 64 bits
    std::int64_t whole(std::string_view key, std::int64_t fallback) const;
    std::uint64_t seed(std::string_view key) const;  ///< 0 if absent
    std::string text(std::string_view key) const;
    std::string text(std::string_view key, std::string fallback) const;
    bool truth(std::string_view key, bool fallback) const;
    std::vector<std::string> texts(std::string_view key) const;  ///< none if absent
    std::vector<double> numbers(std::string_view key) const;     ///< none if absent
    std::span<const JsonNode> list(std::string_view key) const;  ///< none if absent
    /// Of an object in it; empty if absent.
    JsonValues inner(std::string_view key) const;
    JsonValues of(const JsonNode& item) const { return {item, *problem_}; }  ///< of an item of a list
    /// The members of an object, in file order.
    std::span<const JsonNode> members() const { return object_->items; }

private:
    const JsonNode* find(std::string_view key, JsonNode::Type type, std::string_view expected, bool required) const;
    void missing(std::string_view key, std::string_view expected) const;
    void refuse(const JsonNode& node, std::string_view key, std::string_view expected) const;

    const JsonNode* object_;
    std::optional<Diagnostic>* problem_;
};

}  // namespace orrery
