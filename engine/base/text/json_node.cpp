#include "base/text/json_node.h"

#include "base/text/json_cursor.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

class JsonTree {
public:
    JsonTree(std::string_view text, std::string_view file, std::string_view area, std::size_t most)
        : text_(text), area_(area), cursor_(text, file, area), most_(most) {}

    Expected<JsonNode> read() {
        JsonNode root;
        value(root);
        cursor_.end();
        if (cursor_.ok()) return root;
        Diagnostic problem = cursor_.problem();
        const std::string code = problem.code.substr(std::min(problem.code.size(), area_.size() + 1));
        // A number is wrong where it begins, anything else where reading stopped.
        const std::size_t at = code == "not-finite" ? valueAt_ : std::min(cursor_.offset(), text_.size());
        problem.place.column = static_cast<int>(at - lineStart(at)) + 1;
        if (code == "not-json") problem.code = fmt::format("{}.syntax", area_);
        if (code == "not-finite") problem.code = fmt::format("{}.number", area_);
        return Unexpected(std::move(problem));
    }

private:
    std::size_t lineStart(std::size_t at) const {
        const auto before = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
        return before == std::string_view::npos ? 0 : before + 1;
    }
    // Offsets only grow, so that counting lines costs one pass over the text.
    void place(JsonNode& node, std::size_t at) {
        for (; counted_ < at; ++counted_) {
            if (text_[counted_] != '\n') continue;
            ++line_;
            start_ = counted_ + 1;
        }
        node.line = line_;
        node.column = static_cast<int>(at - start_) + 1;
    }
    void value(JsonNode& node) {
        const JsonCursor::Kind kind = cursor_.kind();  // passes over blanks
        const std::size_t begin = valueAt_ = cursor_.offset();
        if (node.line == 0) place(node, begin);
        if (++nodes_ > most_) {
            cursor_.fail("too-large", fmt::format("the document has more than {} values", most_), "a smaller document",
                         "is this the right file?");
        }
        switch (kind) {
            case JsonCursor::Kind::Object:
                node.type = JsonNode::Type::Object;
                members(node);
                return;
            case JsonCursor::Kind::Array:
                node.type = JsonNode::Type::Array;
                for (cursor_.array(); cursor_.element();) value(node.items.emplace_back());
                return;
            case JsonCursor::Kind::Text:
                node.type = JsonNode::Type::Text;
                node.text = cursor_.text();
                return;
            case JsonCursor::Kind::Number:
                node.type = JsonNode::Type::Number;
                node.number = cursor_.number();
                break;
            case JsonCursor::Kind::Truth:
                node.type = JsonNode::Type::Truth;
                node.truth = cursor_.truth();
                break;
            case JsonCursor::Kind::Null:
                cursor_.null();
                break;
            case JsonCursor::Kind::Wrong:
                cursor_.number();  // says what is wrong
                return;
        }
        if (cursor_.ok()) node.text = text_.substr(begin, cursor_.offset() - begin);
    }
    void members(JsonNode& node) {
        cursor_.object();
        std::string_view key;
        while (cursor_.key(key)) {
            JsonNode& member = node.items.emplace_back();
            member.key = key;
            place(member, text_.rfind('"', text_.rfind('"', cursor_.offset() - 1) - 1));
            value(member);
        }
    }

    std::string_view text_, area_;
    JsonCursor cursor_;
    std::size_t most_, nodes_ = 0, counted_ = 0, start_ = 0, valueAt_ = 0;
    int line_ = 1;
};

void write(const JsonNode& node, std::string& out, std::size_t most) {
    if (out.size() > most) return;
    const bool object = node.isObject();
    if (!object && !node.isArray()) {
        out += node.isText() ? "\"" + node.text + "\"" : node.text;
        return;
    }
    out += object ? '{' : '[';
    for (std::size_t i = 0; i < node.items.size() && out.size() <= most; ++i) {
        if (i > 0) out += ',';
        if (object) out += "\"" + node.items[i].key + "\":";
        write(node.items[i], out, most);
    }
    out += object ? '}' : ']';
}

}  // namespace

bool JsonNode::isWhole() const {
    return isNumber() && number == std::floor(number) && std::abs(number) <= 9007199254740992.0;
}

const JsonNode* JsonNode::find(std::string_view wanted) const {
    if (!isObject()) return nullptr;
    const auto found =
        std::find_if(items.rbegin(), items.rend(), [wanted](const JsonNode& item) { return item.key == wanted; });
    return found == items.rend() ? nullptr : &*found;
}

const JsonNode* JsonNode::given(std::string_view wanted) const {
    const JsonNode* found = find(wanted);
    return found && !found->isNull() ? found : nullptr;
}

std::optional<double> JsonNode::numberOf(std::string_view wanted) const {
    const JsonNode* found = find(wanted);
    return found && found->isNumber() ? std::optional(found->number) : std::nullopt;
}

std::string JsonNode::shown(std::size_t most) const {
    std::string out;
    write(*this, out, most);
    if (out.size() <= most) return out;
    out.resize(most > 3 ? most - 3 : 0);
    while (!out.empty() && !isUtf8(out)) out.pop_back();
    return out + "...";
}

Expected<JsonNode> parseJson(std::string_view text, std::string_view file, std::string_view area, JsonLimits limits) {
    const Place place{.file = std::string(file), .line = 1};
    if (text.size() > limits.bytes) {
        return fail(fmt::format("{}.too-large", area), fmt::format("the text has {} bytes", text.size()),
                    fmt::format("at most {} MiB", limits.bytes >> 20), "is this the right file?",
                    Place{.file = std::string(file)});
    }
    if (!isUtf8(text)) {
        return fail(fmt::format("{}.syntax", area), "the text holds bytes that are not UTF-8", "JSON in UTF-8",
                    "is this a binary file, or text in another encoding?", place);
    }
    return JsonTree(text, file, area, limits.values).read();
}

}  // namespace orrery
