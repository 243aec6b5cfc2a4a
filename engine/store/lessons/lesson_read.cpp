#include "base/text/read_file.h"
#include "base/text/words.h"
#include "hardware/files/catalogue.h"
#include "store/lessons/lesson.h"
#include "store/project/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>

namespace orrery {

namespace {

using namespace store;
namespace fs = std::filesystem;

struct LessonDimension {
    std::string_view word;
    Dimension dimension;
};
constexpr std::array lessonDimensions{
    LessonDimension{"number", Dimension::Number},      LessonDimension{"share", Dimension::Fraction},
    LessonDimension{"time", Dimension::Time},          LessonDimension{"data", Dimension::Data},
    LessonDimension{"bandwidth", Dimension::DataRate}, LessonDimension{"work", Dimension::Operations},
    LessonDimension{"rate", Dimension::OperationRate}, LessonDimension{"clock", Dimension::Frequency},
    LessonDimension{"energy", Dimension::Energy},      LessonDimension{"intensity", Dimension::Intensity},
};

/// `hbm3.bandwidth | bandwidth`.
Expected<LessonNumber> readNumber(std::string_view text, const Place& place) {
    const auto bar = text.find('|');
    const std::string_view word = bar == std::string_view::npos ? "number" : trimmed(text.substr(bar + 1));
    const auto dimension = std::ranges::find(lessonDimensions, word, &LessonDimension::word);
    if (dimension == lessonDimensions.end()) {
        return fail("lesson.number", fmt::format("`{}` is no kind of number", word),
                    "number, share, time, data, bandwidth, work, rate, clock, energy or intensity", "", place);
    }
    auto value = Expression::parse(trimmed(text.substr(0, bar)));
    if (!value) {
        value.error().place = place;
        return Unexpected(value.error());
    }
    return LessonNumber{std::move(*value), dimension->dimension};
}

/// Words with `{{…}}` between them.
Expected<std::vector<LessonText>> readWords(std::string_view text, const Place& place) {
    std::vector<LessonText> all;
    while (true) {
        const auto open = text.find("{{");
        if (open == std::string_view::npos) {
            all.push_back({std::string(text), std::nullopt});
            return all;
        }
        const auto close = text.find("}}", open);
        if (close == std::string_view::npos)
            return fail("lesson.number", "`{{` without `}}`", "`{{expression | kind}}`", "", place);
        auto number = readNumber(text.substr(open + 2, close - open - 2), place);
        if (!number) return Unexpected(number.error());
        all.push_back({std::string(text.substr(0, open)), std::move(*number)});
        text.remove_prefix(close + 2);
    }
}

struct Section {
    std::string title, words;
};
std::vector<Section> sectionsOf(std::string_view markdown) {
    std::vector<Section> sections;
    for (const std::string_view line : split(markdown, '\n')) {
        if (line.starts_with("## "))
            sections.push_back({std::string(trimmed(line.substr(3))), {}});
        else if (!sections.empty())
            sections.back().words += std::string(line) + '\n';
    }
    return sections;
}

/// Text under a key that may be absent.
Expected<std::string> textAt(MapReader& map, std::string_view key) {
    const YamlNode* node = map.take(key);
    if (!node) return std::string();
    return readText(*node, map.placeOf(*node, key));
}

#define LESSON_TRY(target, expression)                           \
    {                                                            \
        auto read_ = (expression);                               \
        if (!read_) return Unexpected(std::move(read_.error())); \
        target = std::move(*read_);                              \
    }

Expected<LessonHead> readHead(MapReader& map, const std::string& file) {
    LessonHead head;
    head.file = file;
    head.id = fs::path(file).stem().string();
    auto title = map.require("title", "what the lesson is called");
    if (!title) return Unexpected(title.error());
    LESSON_TRY(head.title, readText(*title, map.placeOf(*title, "title")));
    LESSON_TRY(head.summary, textAt(map, "summary"));
    constexpr int most = 1000;
    for (const auto& [key, into] : {std::pair("order", &head.order), std::pair("minutes", &head.minutes)}) {
        const YamlNode* node = map.take(key);
        if (!node) continue;
        auto value = readWhole(*node, map.placeOf(*node, key), 0, most);
        if (!value) return Unexpected(value.error());
        *into = static_cast<int>(*value);
    }
    return head;
}

Expected<LessonTask> readTask(const YamlNode& node, const Place& at, YamlContext& context) {
    auto map = MapReader::open(node, at.path, context);
    if (!map) return Unexpected(map.error());
    LessonTask task;
    std::string ask, within;
    LESSON_TRY(task.text, textAt(*map, "task"));
    LESSON_TRY(ask, textAt(*map, "ask"));
    LESSON_TRY(task.hint, textAt(*map, "hint"));
    if (task.text.empty() == ask.empty())
        return fail("lesson.task", "neither a task nor a question, or both",
                    "`task:` with `when:`, or `ask:` with `answer:`", "", map->place());
    const bool question = !ask.empty();
    if (question) task.text = std::move(ask);
    std::string rule;
    const std::string_view key = question ? "answer" : "when";
    LESSON_TRY(rule, textAt(*map, key));
    if (question) {
        LESSON_TRY(task.answer, readNumber(rule, map->place()));
        LESSON_TRY(within, textAt(*map, "within"));
        if (!within.empty()) {
            auto share = parseMeasure(within, Dimension::Fraction);
            if (!share) return Unexpected(share.error());
            task.within = share->si;
        }
    } else {
        auto when = Condition::parse(rule);
        if (!when) {
            when.error().place = map->place();
            return Unexpected(when.error());
        }
        task.when = std::move(*when);
    }
    if (const YamlNode* changes = map->take("do")) {
        auto list = MapReader::open(*changes, at.path + "/do", context);
        if (!list) return Unexpected(list.error());
        for (const std::string& what : list->keys()) {
            const YamlNode* value = list->take(what);
            if (!value) continue;
            std::string to;
            LESSON_TRY(to, readText(*value, list->placeOf(*value, what)));
            task.changes.emplace_back(what, std::move(to));
        }
    }
    (void)map->rest();
    return task;
}

Expected<LessonStep> readStep(const YamlNode& node, const Place& at, const Section& section, YamlContext& context) {
    auto map = MapReader::open(node, at.path, context);
    if (!map) return Unexpected(map.error());
    LessonStep step;
    LESSON_TRY(step.title, textAt(*map, "title"));
    if (step.title != section.title) {
        return fail("lesson.text", fmt::format("the text has `{}` where the step is `{}`", section.title, step.title),
                    "a heading `## ` of the same name for each step, in order", "", map->place());
    }
    LESSON_TRY(step.page, textAt(*map, "page"));
    LESSON_TRY(step.panel, textAt(*map, "panel"));
    LESSON_TRY(step.text, readWords(trimmed(section.words), map->place()));
    if (const YamlNode* tasks = map->take("tasks")) {
        auto list = readList(*tasks, map->placeOf(*tasks, "tasks"));
        if (!list) return Unexpected(list.error());
        for (const YamlNode& each : *list) {
            auto task = readTask(each, context.place(each, at.path + "/tasks"), context);
            if (!task) return Unexpected(task.error());
            step.tasks.push_back(std::move(*task));
        }
    }
    (void)map->rest();
    return step;
}

}  // namespace

Expected<Lesson> readLesson(std::string_view yaml, std::string_view markdown, const std::string& file) {
    YamlContext context{file, {}};
    auto root = parseDocument(yaml, context);
    if (!root) return Unexpected(root.error());
    if (auto version = documentVersion(*root, "lesson", 1, context); !version) return Unexpected(version.error());
    auto map = MapReader::open(*root, "", context);
    if (!map) return Unexpected(map.error());
    (void)map->take("orrery");
    Lesson lesson;
    LESSON_TRY(lesson.head, readHead(*map, file));
    auto project = map->require("project", "what the lesson begins with");
    if (!project) return Unexpected(project.error());
    auto loaded = readProject(yamlFlow(*project), file);
    if (!loaded) return Unexpected(loaded.error());
    lesson.project = std::move(loaded->project);
    if (lesson.project.scenarios.empty())
        return fail("lesson.scenario", "the lesson's project asks nothing", "a scenario", "", map->place());
    auto steps = map->require("steps", "what is to be done");
    if (!steps) return Unexpected(steps.error());
    auto list = readList(*steps, map->placeOf(*steps, "steps"));
    if (!list) return Unexpected(list.error());
    const std::vector<Section> sections = sectionsOf(markdown);
    if (sections.size() != list->size()) {
        return fail("lesson.text", fmt::format("{} headings of the text, {} steps", sections.size(), list->size()),
                    "a heading `## ` for each step", "", map->place());
    }
    for (std::size_t s = 0; s < list->size(); ++s) {
        const YamlNode& node = (*list)[s];
        auto step = readStep(node, context.place(node, fmt::format("steps[{}]", s + 1)), sections[s], context);
        if (!step) return Unexpected(step.error());
        lesson.steps.push_back(std::move(*step));
    }
    return lesson;
}

#undef LESSON_TRY

Expected<Lesson> readLessonFile(const std::string& path) {
    constexpr std::size_t most = std::size_t{1} << 20;
    auto yaml = readFile(path, most);
    if (!yaml) return Unexpected(yaml.error());
    auto markdown = readFile(fs::path(path).replace_extension(".md").string(), most);
    if (!markdown) return Unexpected(markdown.error());
    return readLesson(*yaml, *markdown, path);
}

std::vector<LessonHead> shippedLessons() {
    constexpr std::size_t most = std::size_t{1} << 20;
    std::vector<LessonHead> heads;
    std::error_code error;
    const fs::path folder = fs::path(presetsFolder()) / "lessons";
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() != ".yaml") continue;
        const std::string file = it->path().string();
        const auto text = readFile(file, most);
        if (!text) continue;
        YamlContext context{file, {}};
        const auto root = parseDocument(*text, context);
        auto map = root ? MapReader::open(*root, "", context) : Expected<MapReader>(Unexpected(root.error()));
        if (!map || !documentVersion(*root, "lesson", 1, context)) continue;
        if (auto head = readHead(*map, file)) heads.push_back(std::move(*head));
    }
    std::ranges::sort(heads, [](const LessonHead& a, const LessonHead& b) {
        return std::tie(a.order, a.title) < std::tie(b.order, b.title);
    });
    return heads;
}

}  // namespace orrery
