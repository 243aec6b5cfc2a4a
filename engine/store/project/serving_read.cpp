#include "serving/fields/field.h"
#include "serving/traffic/traffic.h"
#include "store/project/project.h"
#include "store/project/serving_file.h"
#include "store/project/serving_yaml.h"

#include <fmt/format.h>

#include <filesystem>

namespace orrery {

namespace {

using store::MapReader;
using store::YamlContext;

constexpr std::size_t mostItems = 4096;

using NumbersByName = std::map<std::string, double, std::less<>>;

// Reads the fields of a table that are there; the first thing that is wrong ends it.
class Reader {
public:
    Reader(YamlContext& context, std::map<std::string, std::vector<UnknownKey>>& unknown, ServingPlaces& places)
        : context_(context), unknown_(unknown), places_(places) {}

    Expected<void> read(MapReader map, const std::string& path, const FieldTable& table, void* owner) {
        for (const FieldSpec& spec : table.fields) {
            const auto node = map.take(spec.key);
            if (!node) continue;
            const Field field{*node, map.placeOf(*node, spec.key),
                              path.empty() ? std::string(spec.key) : fmt::format("{}/{}", path, spec.key)};
            places_[field.path] = field.place;
            if (auto done = read(field, spec, owner); !done) return done;
        }
        auto rest = map.rest();
        if (!rest.empty()) unknown_[path] = std::move(rest);
        return {};
    }

private:
    struct Field {
        const YamlNode& node;
        Place place;
        std::string path;
    };

    Expected<void> read(const Field& field, const FieldSpec& spec, void* owner) {
        switch (spec.form) {
            case FieldForm::Part:
                return inner(field.node, field.path, spec, spec.member(owner));
            case FieldForm::Optional:
                spec.resize(owner, 0);
                spec.resize(owner, 1);
                return inner(field.node, field.path, spec, spec.member(owner));
            case FieldForm::List:
                return list(field, spec, owner);
            case FieldForm::Texts:
                return keep(store::readTexts(field.node, field.place),
                            *static_cast<std::vector<std::string>*>(spec.member(owner)));
            case FieldForm::Numbers:
                return numbers(field, *static_cast<NumbersByName*>(spec.member(owner)));
            case FieldForm::Axes:
                return axes(field, *static_cast<std::vector<SweepAxis>*>(spec.member(owner)));
            default:
                return scalar(field, spec, owner);
        }
    }
    Expected<void> scalar(const Field& field, const FieldSpec& spec, void* owner) {
        Expected<FieldValue> value;
        if (spec.form == FieldForm::Whole) {
            // What a number may be in earnest is for checkFields() to say; here it must fit.
            auto read = store::readWhole(field.node, field.place, spec.least, spec.largest);
            if (!read) return tl::unexpected(read.error());
            value = FieldValue(*read);
        } else if (spec.form == FieldForm::Flag) {
            auto read = store::readBool(field.node, field.place);
            if (!read) return tl::unexpected(read.error());
            value = FieldValue(*read);
        } else {
            const auto text = store::readText(field.node, field.place);
            if (!text) return tl::unexpected(text.error());
            value = parseField(spec, *text);
        }
        if (!value) {
            value.error().place = field.place;
            return tl::unexpected(value.error());
        }
        spec.set(owner, *value);
        return {};
    }
    Expected<void> list(const Field& field, const FieldSpec& spec, void* owner) {
        const auto items = store::readList(field.node, field.place);
        if (!items) return tl::unexpected(items.error());
        if (items->size() > mostItems) {
            return fail("serving.too-many", fmt::format("{} {} are too many", items->size(), spec.key),
                        fmt::format("at most {}", mostItems), "", field.place);
        }
        spec.resize(owner, 0);
        for (std::size_t i = 0; i < items->size(); ++i) {
            spec.resize(owner, i + 1);
            auto done = inner((*items)[i], fmt::format("{}[{}]", field.path, i + 1), spec, spec.item(owner, i));
            if (!done) return done;
        }
        return {};
    }
    Expected<void> numbers(const Field& field, NumbersByName& to) {
        auto entries = MapReader::open(field.node, field.path, context_);
        if (!entries) return tl::unexpected(entries.error());
        const FieldSpec plain{.form = FieldForm::Number};
        for (const std::string& name : entries->keys()) {
            const auto value = entries->take(name);
            const Place place = entries->placeOf(*value, name);
            places_[fmt::format("{}/{}", field.path, name)] = place;
            const auto text = store::readText(*value, place);
            if (!text) return tl::unexpected(text.error());
            auto number = parseField(plain, *text);
            if (!number) {
                number.error().place = place;
                return tl::unexpected(number.error());
            }
            to[name] = std::get<double>(*number);
        }
        return {};
    }
    Expected<void> axes(const Field& field, std::vector<SweepAxis>& to) {
        auto entries = MapReader::open(field.node, field.path, context_);
        if (!entries) return tl::unexpected(entries.error());
        for (const std::string& name : entries->keys()) {
            const auto values = entries->take(name);
            const Place place = entries->placeOf(*values, name);
            places_[fmt::format("{}/{}", field.path, name)] = place;
            auto texts = store::readTexts(*values, place);
            if (!texts) return tl::unexpected(texts.error());
            to.push_back({name, std::move(*texts)});
        }
        return {};
    }
    Expected<void> inner(const YamlNode& node, const std::string& path, const FieldSpec& spec, void* owner) {
        auto map = MapReader::open(node, path, context_);
        if (!map) return tl::unexpected(map.error());
        places_.try_emplace(path, map->place());
        return read(std::move(*map), path, spec.inner(), owner);
    }
    template <class T>
    static Expected<void> keep(Expected<T> value, T& to) {
        if (!value) return tl::unexpected(value.error());
        to = std::move(*value);
        return {};
    }

    YamlContext& context_;
    std::map<std::string, std::vector<UnknownKey>>& unknown_;
    ServingPlaces& places_;
};

template <class Change>
void eachPath(ServingStudy& study, Change change) {
    const auto file = [&](std::string& source) {
        if (isFileSource(source)) change(source);
    };
    file(study.hardware);
    file(study.scenario.model.source);
    if (!study.traffic.trace.file.empty()) change(study.traffic.trace.file);
    for (PoolSpec& pool : study.scenario.pools) {
        file(pool.hardware);
        file(pool.model);
        file(pool.speculation.draftModel);
        if (!pool.experts.trace.empty()) change(pool.experts.trace);
        if (!pool.time.path.empty()) change(pool.time.path);
    }
}

// A trace is taken whole unless the file says otherwise: its lengths where none are described, all its rows where no
// number is given.
void followTrace(TrafficSpec& traffic, const ServingPlaces& places) {
    if (traffic.trace.file.empty() || traffic.arrivals.kind != ArrivalKind::Trace) return;
    const auto said = [&](std::string_view key) { return places.contains(fmt::format("traffic/{}", key)); };
    if (!said("requests")) traffic.requests = 0;
    if (said("prompt") || said("output") || said("ratio")) return;
    traffic.prompt.kind = traffic.output.kind = LengthKind::Trace;
}

}  // namespace

namespace store {

Expected<ServingStudy> readServingSection(const YamlNode& root, YamlContext& context, ServingPlaces& places) {
    auto map = MapReader::open(root, "", context);
    if (!map) return tl::unexpected(map.error());
    map->take("orrery");
    places[""] = map->place();
    ServingStudy study;
    Reader reader(context, study.unknown, places);
    if (auto done = reader.read(std::move(*map), "", fieldTable<ServingStudy>(), &study); !done)
        return tl::unexpected(done.error());
    followTrace(study.traffic, places);
    if (const TrafficSpec& traffic = study.traffic; !traffic.trace.file.empty() && !needsTrace(traffic)) {
        const auto place = places.find("traffic/trace");
        context.warnings.push_back(warning(
            "serving.trace-unused",
            fmt::format("the trace {} is not used: arrivals are {} and lengths are described", traffic.trace.file,
                        toText(traffic.arrivals.kind)),
            "say `kind: trace` under `arrivals`, under `prompt` and `output`, or under all of them",
            place == places.end() ? context.place(root, "traffic/trace") : place->second));
    }
    if (study.scenario.pools.empty()) {
        return fail("serving.no-pools", "nothing serves: the list of pools is empty", "at least one pool", "",
                    context.place(root.find("pools") ? *root.find("pools") : root, "pools"));
    }
    return study;
}

}  // namespace store

Expected<LoadedServing> readServing(std::string_view yaml, std::string_view file) {
    YamlContext context{std::string(file), {}};
    try {
        auto root = store::parseDocument(yaml, context);
        if (!root) return tl::unexpected(root.error());
        const auto version = store::documentVersion(*root, "serving", servingVersion, context);
        if (!version) return tl::unexpected(version.error());
        LoadedServing loaded;
        auto study = store::readServingSection(*root, context, loaded.places);
        if (!study) return tl::unexpected(study.error());
        loaded.study = std::move(*study);
        loaded.warnings = std::move(context.warnings);
        return loaded;
    } catch (const std::exception& error) {
        return fail("serving.read", fmt::format("the file cannot be read: {}", error.what()), "a serving file", "",
                    {context.file});
    }
}

Expected<LoadedServing> readServingFile(const std::string& path) {
    auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    auto loaded = readServing(*text, path);
    if (loaded) {
        std::error_code ignored;
        const auto folder = std::filesystem::absolute(path, ignored).parent_path();
        loaded->study = withPathsResolved(std::move(loaded->study), folder.string());
    }
    return loaded;
}

ServingStudy withPathsRelativeTo(ServingStudy study, const std::string& folder) {
    namespace fs = std::filesystem;
    eachPath(study, [&](std::string& path) {
        const fs::path source(path);
        if (!source.is_absolute()) return;
        const fs::path relative = source.lexically_normal().lexically_relative(fs::path(folder).lexically_normal());
        const auto climbs = std::count(relative.begin(), relative.end(), fs::path(".."));
        if (relative.empty() || climbs > 2) return;
        const std::string text = relative.generic_string();
        path = isFileSource(text) ? text : "./" + text;
    });
    return study;
}

ServingStudy withPathsResolved(ServingStudy study, const std::string& folder) {
    namespace fs = std::filesystem;
    eachPath(study, [&](std::string& path) {
        if (!fs::path(path).is_absolute()) path = (fs::path(folder) / path).lexically_normal().string();
    });
    return study;
}

}  // namespace orrery
