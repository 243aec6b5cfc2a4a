#include "serving/fields/field.h"
#include "store/project/project.h"
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

using Entries = std::vector<Entry>;

// Entries of one kind of map that are not the same in the other.
Entries without(Entries mine, const Entries& usual) {
    Entries result;
    for (Entry& entry : mine) {
        const auto same = std::find_if(usual.begin(), usual.end(), [&](const Entry& e) { return e.key == entry.key; });
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

std::string listed(const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + yamlScalar(value);
    return "[" + list + "]";
}

Entries entriesOf(const FieldTable& table, const void* owner);
Entries differing(const FieldTable& table, const void* owner) {
    return without(entriesOf(table, owner), entriesOf(table, table.usual()));
}

Entry entryOf(const FieldSpec& spec, const void* owner) {
    void* const mutableOwner = const_cast<void*>(owner);  // members are only read
    Entry entry{Entry::Kind::Scalar, std::string(spec.key), {}, {}, false};
    switch (spec.form) {
        case FieldForm::Part:
            entry.kind = Entry::Kind::Map;
            entry.inner = entriesOf(spec.inner(), spec.member(mutableOwner));
            break;
        case FieldForm::Optional:
            entry.kind = Entry::Kind::Map;
            entry.inner = differing(spec.inner(), spec.member(mutableOwner));
            entry.keep = true;
            break;
        case FieldForm::List:
            entry.kind = Entry::Kind::List;
            for (std::size_t i = 0; i < spec.count(owner); ++i)
                entry.inner.push_back(
                    {Entry::Kind::Map, {}, {}, differing(spec.inner(), spec.item(mutableOwner, i)), true});
            break;
        case FieldForm::Texts:
            entry.value = listed(*static_cast<const std::vector<std::string>*>(spec.member(mutableOwner)));
            break;
        case FieldForm::Numbers:
            entry.kind = Entry::Kind::Map;
            for (const auto& [name, value] :
                 *static_cast<const std::map<std::string, double, std::less<>>*>(spec.member(mutableOwner)))
                entry.inner.push_back({Entry::Kind::Scalar, yamlScalar(name), fmt::format("{}", value), {}, false});
            break;
        case FieldForm::Axes:
            entry.kind = Entry::Kind::Map;
            for (const SweepAxis& axis : *static_cast<const std::vector<SweepAxis>*>(spec.member(mutableOwner)))
                entry.inner.push_back({Entry::Kind::Scalar, yamlScalar(axis.key), listed(axis.values), {}, false});
            break;
        default:
            entry.value = fieldText(spec, spec.get(owner));
            if (spec.form == FieldForm::Text) entry.value = yamlScalar(entry.value);
    }
    return entry;
}

Entries entriesOf(const FieldTable& table, const void* owner) {
    Entries entries;
    for (const FieldSpec& spec : table.fields)
        if (spec.form != FieldForm::Optional || spec.count(owner) > 0) entries.push_back(entryOf(spec, owner));
    return entries;
}

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

Entry* entryIn(Entries& entries, std::string_view key) {
    const auto at = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    return at == entries.end() ? nullptr : &*at;
}

// What is taken from a trace when a file is silent (followTrace() of the reader) must be said where it is not taken.
void sayBesideTrace(Entries& entries, const TrafficSpec& traffic) {
    if (traffic.trace.file.empty() || traffic.arrivals.kind != ArrivalKind::Trace) return;
    Entry* all = entryIn(entries, "traffic");
    if (!all) return;
    const Entry whole = {Entry::Kind::Map, {}, {}, entriesOf(fieldTable<TrafficSpec>(), &traffic), false};
    const auto say = [&](Entries& into, const Entries& from, std::string_view key) {
        const auto at = std::find_if(from.begin(), from.end(), [&](const Entry& e) { return e.key == key; });
        if (at != from.end() && !entryIn(into, key)) into.push_back(*at);
    };
    if (traffic.requests == TrafficSpec{}.requests) say(all->inner, whole.inner, "requests");
    Entry *prompt = entryIn(all->inner, "prompt"), *output = entryIn(all->inner, "output");
    const bool silent = (!prompt || prompt->inner.empty()) && (!output || output->inner.empty()) && traffic.ratio == 0;
    if (!silent) return;
    if (!prompt) prompt = &all->inner.emplace_back(Entry{Entry::Kind::Map, "prompt", {}, {}, false});
    const auto full =
        std::find_if(whole.inner.begin(), whole.inner.end(), [](const Entry& e) { return e.key == "prompt"; });
    if (full != whole.inner.end()) say(prompt->inner, full->inner, "kind");
}

}  // namespace

namespace store {

std::string writeServingSection(const ServingStudy& study) {
    Entries entries = differing(fieldTable<ServingStudy>(), &study);
    sayBesideTrace(entries, study.traffic);
    return lines(entries, {}, study.unknown);
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
