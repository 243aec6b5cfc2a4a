#include "base/dtype.h"
#include "store/project/project.h"
#include "store/project/serving_fields.h"
#include "store/project/serving_file.h"
#include "store/project/serving_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery {

namespace {

using Unknown = std::map<std::string, std::vector<UnknownKey>>;

// A document as it would be with every field written; what equals the default is left out afterwards.
struct Entry {
    enum class Kind { Scalar, Map, List } kind = Kind::Scalar;
    std::string key, value;
    std::vector<Entry> inner;
    bool keep = false;  ///< even if nothing in it differs
    bool operator==(const Entry&) const = default;
};

class Writer {
public:
    std::vector<Entry> entries;

    void text(std::string_view key, const std::string& value) { add(key, store::yamlScalar(value)); }
    void flag(std::string_view key, bool value) { add(key, value ? "true" : "false"); }
    template <class Whole>
    void whole(std::string_view key, Whole value) {
        add(key, fmt::format("{}", value));
    }
    void number(std::string_view key, double value, Dimension dimension = Dimension::Number) {
        if (dimension == Dimension::Number) return add(key, fmt::format("{}", value));
        // With a prefix where that reads back as the same number, else in the base unit.
        std::string text = formatMeasure(value, dimension, 0);
        const auto back = parseMeasure(text, dimension);
        if (!back || back->si != value) text = fmt::format("{} {}", value, baseUnit(dimension));
        add(key, std::move(text));
    }
    template <class Enum>
    void word(std::string_view key, store::Words<Enum> words) {
        add(key, std::string(toText(words.value)));
    }
    void type(std::string_view key, DType value) { add(key, std::string(toText(value))); }
    template <class T>
    void map(std::string_view key, T& value) {
        entries.push_back({Entry::Kind::Map, std::string(key), {}, all(value), false});
    }
    template <class T>
    void optional(std::string_view key, std::optional<T>& value) {
        if (value) entries.push_back({Entry::Kind::Map, std::string(key), {}, differing(*value), true});
    }
    template <class T>
    void list(std::string_view key, std::vector<T>& values) {
        Entry list{Entry::Kind::List, std::string(key), {}, {}, false};
        for (T& value : values) list.inner.push_back({Entry::Kind::Map, {}, {}, differing(value), true});
        entries.push_back(std::move(list));
    }
    void texts(std::string_view key, const std::vector<std::string>& values) {
        std::string list;
        for (const std::string& value : values) list += (list.empty() ? "" : ", ") + store::yamlScalar(value);
        add(key, "[" + list + "]");
    }
    void numbers(std::string_view key, const std::map<std::string, double, std::less<>>& values) {
        Entry map{Entry::Kind::Map, std::string(key), {}, {}, false};
        for (const auto& [name, value] : values) {
            map.inner.push_back({Entry::Kind::Scalar, store::yamlScalar(name), fmt::format("{}", value), {}, false});
        }
        entries.push_back(std::move(map));
    }
    void axes(std::string_view key, const std::vector<SweepAxis>& axes) {
        Entry map{Entry::Kind::Map, std::string(key), {}, {}, false};
        for (const SweepAxis& axis : axes) {
            std::string values;
            for (const std::string& value : axis.values)
                values += (values.empty() ? "" : ", ") + store::yamlScalar(value);
            map.inner.push_back({Entry::Kind::Scalar, store::yamlScalar(axis.key), "[" + values + "]", {}, false});
        }
        entries.push_back(std::move(map));
    }

    template <class T>
    static std::vector<Entry> all(T& value) {
        Writer writer;
        store::describe(writer, value);
        return std::move(writer.entries);
    }
    template <class T>
    static std::vector<Entry> differing(T& value) {
        T usual{};
        return without(all(value), all(usual));
    }
    // Entries of one kind of map that are not the same in the other.
    static std::vector<Entry> without(std::vector<Entry> mine, const std::vector<Entry>& usual) {
        std::vector<Entry> result;
        for (Entry& entry : mine) {
            const auto same =
                std::find_if(usual.begin(), usual.end(), [&](const Entry& e) { return e.key == entry.key; });
            if (same != usual.end() && *same == entry) {
                if (entry.kind == Entry::Kind::Map) result.push_back({entry.kind, entry.key, {}, {}, false});
                continue;
            }
            if (same != usual.end() && entry.kind == Entry::Kind::Map)
                entry.inner = without(std::move(entry.inner), same->inner);
            result.push_back(std::move(entry));
        }
        return result;
    }

private:
    void add(std::string_view key, std::string value) {
        entries.push_back({Entry::Kind::Scalar, std::string(key), std::move(value), {}, false});
    }
};

std::string join(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "/" + key;
}

// Lines of a map without indentation. Maps that differ in nothing stand in the list for their unknown keys alone.
std::string lines(const std::vector<Entry>& entries, const std::string& path, const Unknown& unknown) {
    std::string out;
    for (const Entry& entry : entries) {
        const std::string inner = join(path, entry.key);
        if (entry.kind == Entry::Kind::Scalar) {
            out += fmt::format("{}: {}\n", entry.key, entry.value);
        } else if (entry.kind == Entry::Kind::Map) {
            const std::string block = lines(entry.inner, inner, unknown);
            const bool flat = std::all_of(entry.inner.begin(), entry.inner.end(), [](const Entry& e) {
                return e.kind == Entry::Kind::Scalar && e.value.find('\n') == std::string::npos;
            });
            if (block.empty()) {
                if (entry.keep) out += fmt::format("{}: {{}}\n", entry.key);
            } else if (flat && !unknown.contains(inner) && block.size() < 100 && entry.inner.size() > 0) {
                std::string values;
                for (const Entry& one : entry.inner)
                    values += fmt::format("{}{}: {}", values.empty() ? "" : ", ", one.key, one.value);
                out += fmt::format("{}: {{{}}}\n", entry.key, values);
            } else {
                out += fmt::format("{}:\n{}", entry.key, store::indented(block, 2));
            }
        } else {
            if (entry.inner.empty()) {
                out += fmt::format("{}: []\n", entry.key);
                continue;
            }
            out += entry.key + ":\n";
            for (std::size_t i = 0; i < entry.inner.size(); ++i) {
                std::string block =
                    lines(entry.inner[i].inner, join(path, fmt::format("{}[{}]", entry.key, i + 1)), unknown);
                if (block.empty()) block = "{}\n";
                block = store::indented(block, 4);
                block[2] = '-';
                out += block;
            }
        }
    }
    if (const auto found = unknown.find(path); found != unknown.end()) out += store::writeUnknown(found->second, 0);
    return out;
}

}  // namespace

namespace store {

std::string writeServingSection(const ServingStudy& study) {
    ServingStudy copy = study, usual;
    return lines(Writer::without(Writer::all(copy), Writer::all(usual)), {}, study.unknown);
}

}  // namespace store

std::string writeServing(const ServingStudy& study) {
    return fmt::format("orrery: serving/{}\n", servingVersion) + store::writeServingSection(study);
}

Expected<void> saveServingFile(const std::string& path, const ServingStudy& study) {
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(path, ignored).parent_path();
    return saveFileAtomically(path, writeServing(withPathsRelativeTo(study, folder.string())));
}

}  // namespace orrery
