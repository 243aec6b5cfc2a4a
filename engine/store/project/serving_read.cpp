#include "base/dtype.h"
#include "base/text/nearest.h"
#include "store/project/project.h"
#include "store/project/serving_fields.h"
#include "store/project/serving_file.h"
#include "store/project/serving_yaml.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <type_traits>

namespace orrery {

namespace {

using store::MapReader;
using store::YamlContext;

constexpr std::size_t mostItems = 4096;

// Reads the fields that are there; the first thing that is wrong sticks.
class Reader {
public:
    Reader(MapReader map, std::string path, YamlContext& context,
           std::map<std::string, std::vector<UnknownKey>>& unknown, ServingPlaces& places)
        : map_(std::move(map)), path_(std::move(path)), context_(context), unknown_(unknown), places_(places) {}

    void text(std::string_view key, std::string& to) {
        read(key, [&](const auto& node, const Place& place) { return keep(store::readText(node, place), to); });
    }
    void flag(std::string_view key, bool& to) {
        read(key, [&](const auto& node, const Place& place) { return keep(store::readBool(node, place), to); });
    }
    template <class Whole>
    void whole(std::string_view key, Whole& to) {
        // What a number may be in earnest is for check() to say; here it must fit.
        constexpr std::int64_t most =
            sizeof(Whole) == 4 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
        constexpr std::int64_t least = std::is_unsigned_v<Whole> ? 0 : -most;
        read(key, [&](const auto& node, const Place& place) {
            return keep(store::readWhole(node, place, least, most), to);
        });
    }
    void number(std::string_view key, double& to, Dimension dimension = Dimension::Number) {
        read(key, [&](const auto& node, const Place& place) { return measure(node, place, dimension, to); });
    }
    template <class Enum>
    void word(std::string_view key, store::Words<Enum> words) {
        read(key, [&](const auto& node, const Place& place) -> Expected<void> {
            const auto text = store::readText(node, place);
            if (!text) return tl::unexpected(text.error());
            std::vector<std::string> all;
            std::string list;
            for (int i = 0; i < words.count; ++i) {
                const auto value = static_cast<Enum>(i);
                if (toText(value) == *text) {
                    words.value = value;
                    return {};
                }
                all.emplace_back(toText(value));
                list += (i ? ", " : "") + all.back();
            }
            return fail("serving.word", fmt::format("`{}` is no {}", *text, key), list, didYouMean(*text, all), place);
        });
    }
    void type(std::string_view key, DType& to) {
        read(key, [&](const auto& node, const Place& place) -> Expected<void> {
            const auto text = store::readText(node, place);
            if (!text) return tl::unexpected(text.error());
            const auto found = dtype(*text);
            if (!found)
                return fail("serving.type", fmt::format("`{}` is no data type", *text), "bf16, fp16, fp8, int8 …", "",
                            place);
            to = *found;
            return {};
        });
    }
    template <class T>
    void map(std::string_view key, T& to) {
        read(key, [&](const auto& node, const Place&) { return inner(node, join(key), to); });
    }
    template <class T>
    void optional(std::string_view key, std::optional<T>& to) {
        read(key, [&](const auto& node, const Place&) {
            to.emplace();
            return inner(node, join(key), *to);
        });
    }
    template <class T>
    void list(std::string_view key, std::vector<T>& to) {
        read(key, [&](const auto& node, const Place& place) -> Expected<void> {
            const auto items = store::readList(node, place);
            if (!items) return tl::unexpected(items.error());
            if (items->size() > mostItems) {
                return fail("serving.too-many", fmt::format("{} {} are too many", items->size(), key),
                            fmt::format("at most {}", mostItems), "", place);
            }
            to.clear();
            for (std::size_t i = 0; i < items->size(); ++i) {
                to.emplace_back();
                auto done = inner((*items)[i], join(fmt::format("{}[{}]", key, i + 1)), to.back());
                if (!done) return done;
            }
            return {};
        });
    }
    void texts(std::string_view key, std::vector<std::string>& to) {
        read(key, [&](const auto& node, const Place& place) -> Expected<void> {
            return keep(store::readTexts(node, place), to);
        });
    }
    void numbers(std::string_view key, std::map<std::string, double, std::less<>>& to) {
        read(key, [&](const auto& node, const Place&) -> Expected<void> {
            auto entries = MapReader::open(node, join(key), context_);
            if (!entries) return tl::unexpected(entries.error());
            for (const std::string& name : entries->keys()) {
                const auto value = entries->take(name);
                double number = 0;
                const Place place = entries->placeOf(*value, name);
                places_[join(fmt::format("{}/{}", key, name))] = place;
                if (auto done = measure(*value, place, Dimension::Number, number); !done) return done;
                to[name] = number;
            }
            return {};
        });
    }
    void axes(std::string_view key, std::vector<SweepAxis>& to) {
        read(key, [&](const auto& node, const Place&) -> Expected<void> {
            auto entries = MapReader::open(node, join(key), context_);
            if (!entries) return tl::unexpected(entries.error());
            for (const std::string& name : entries->keys()) {
                const auto values = entries->take(name);
                places_[join(fmt::format("{}/{}", key, name))] = entries->placeOf(*values, name);
                auto texts = store::readTexts(*values, entries->placeOf(*values, name));
                if (!texts) return tl::unexpected(texts.error());
                to.push_back({name, std::move(*texts)});
            }
            return {};
        });
    }
    Expected<void> finish() {
        if (!done_) return done_;
        auto rest = map_.rest();
        if (!rest.empty()) unknown_[path_] = std::move(rest);
        return {};
    }

private:
    std::string join(std::string_view key) const {
        return path_.empty() ? std::string(key) : fmt::format("{}/{}", path_, key);
    }
    template <class Read>
    void read(std::string_view key, Read&& one) {
        if (!done_) return;
        if (const auto node = map_.take(key)) {
            const Place place = map_.placeOf(*node, key);
            places_[join(key)] = place;
            done_ = one(*node, place);
        }
    }
    template <class T, class To>
    static Expected<void> keep(Expected<T> value, To& to) {
        if (!value) return tl::unexpected(value.error());
        to = static_cast<To>(std::move(*value));
        return {};
    }
    static Expected<void> measure(const YAML::Node& node, const Place& place, Dimension dimension, double& to) {
        const auto text = store::readText(node, place);
        if (!text) return tl::unexpected(text.error());
        auto value = parseMeasure(*text, dimension);
        if (value && value->perCycle) {
            return fail("unit.per-cycle", fmt::format("`{}` is per clock cycle", *text), "a value per second", "",
                        place);
        }
        if (!value) {
            Diagnostic error = value.error();
            error.place = place;
            return tl::unexpected(error);
        }
        to = value->si;
        return {};
    }
    template <class T>
    Expected<void> inner(const YAML::Node& node, const std::string& path, T& to) {
        auto map = MapReader::open(node, path, context_);
        if (!map) return tl::unexpected(map.error());
        places_.try_emplace(path, map->place());
        Reader reader(std::move(*map), path, context_, unknown_, places_);
        store::describe(reader, to);
        return reader.finish();
    }

    MapReader map_;
    std::string path_;
    YamlContext& context_;
    std::map<std::string, std::vector<UnknownKey>>& unknown_;
    ServingPlaces& places_;
    Expected<void> done_;
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

}  // namespace

namespace store {

Expected<ServingStudy> readServingSection(const YAML::Node& root, YamlContext& context, ServingPlaces& places) {
    auto map = MapReader::open(root, "", context);
    if (!map) return tl::unexpected(map.error());
    map->take("orrery");
    places[""] = map->place();
    ServingStudy study;
    Reader reader(std::move(*map), "", context, study.unknown, places);
    describe(reader, study);
    if (auto done = reader.finish(); !done) return tl::unexpected(done.error());
    if (study.scenario.pools.empty()) {
        return fail("serving.no-pools", "nothing serves: the list of pools is empty", "at least one pool", "",
                    context.place(root["pools"], "pools"));
    }
    return study;
}

}  // namespace store

Expected<LoadedServing> readServing(std::string_view yaml, std::string_view file) {
    YamlContext context{std::string(file), {}};
    try {
        auto root = store::parseYaml(yaml, context);
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
