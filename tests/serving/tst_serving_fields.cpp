// Every parameter of a serving question, from its one row: described, written and read back, refused out of its range
// with the line that says so, set by a sweep, listed in the handbook.

#include "serving/fields/field_path.h"
#include "serving/fields/study_hash.h"
#include "store/project/project.h"
#include "store/project/serving_file.h"
#include "study/serving/sweep.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

#include <yaml-cpp/yaml.h>

#include <fstream>
#include <set>

using namespace orrery;

namespace {

// A question whose iterations follow a law, with one item in every list on the way to the field.
ServingStudy studyWith(const std::string& path) {
    ServingStudy study;
    study.hardware = "a100-80-sxm";
    study.scenario.model.source = "llama-2-7b";
    study.scenario.promise.ttft = 1;
    study.traffic.requests = 20;
    PoolSpec& pool = study.scenario.pools[0];
    pool.time.kind = SlotKind::Law;
    pool.time.law.fixed = 0.01;
    if (path.starts_with("transfer")) study.scenario.transfer.emplace();
    if (path.starts_with("failures")) study.scenario.failures.push_back({0, 1, 1, false});
    if (path.starts_with("tenants")) study.scenario.tenants.push_back({.name = "chat"});
    if (path.starts_with("stages")) study.scenario.stages.push_back({.name = "index", .seconds = 0.1});
    return study;
}

// Values that differ from `now` and are allowed.
std::vector<FieldValue> othersOf(const FieldSpec& spec, const FieldValue& now) {
    std::vector<FieldValue> all;
    const FieldRange& range = spec.range;
    if (spec.form == FieldForm::Number) {
        const double low = std::isfinite(range.low) ? range.low : -1, high = std::isfinite(range.high) ? range.high : 1;
        for (const double part : {0.5, 0.25}) all.emplace_back(low + part * (std::min(high, low + 1) - low));
    } else if (spec.form == FieldForm::Whole) {
        for (const std::int64_t more : {1, 2}) all.emplace_back(static_cast<std::int64_t>(range.low) + more);
    } else if (spec.form == FieldForm::Flag) {
        all = {true, false};
    } else if (spec.form == FieldForm::Choice) {
        for (std::size_t i = 0; i < spec.titles.size(); ++i) all.emplace_back(static_cast<std::int64_t>(i));
    } else if (spec.form == FieldForm::Type) {
        all = {std::int64_t{5}, std::int64_t{3}};
    } else if (spec.named) {
        all = {std::string("roofline-hierarchical"), std::string("vllm-2023-dgx-a100")};
    } else if (spec.offers) {
        for (const FieldOffer& offer : spec.offers()) all.emplace_back(offer.id);
    } else {
        all = {std::string("a: b"), std::string("other")};
    }
    std::erase(all, now);
    return all;
}

// Changes neighbours of the field until it matters.
bool makeItMatter(ServingStudy& study, const std::string& path) {
    for (std::size_t cut = path.find('/');; cut = path.find('/', cut + 1)) {
        const std::string part = path.substr(0, cut);
        const FieldAt at = fieldAt(study, part);
        if (at.owners.empty()) return false;
        void* owner = at.owners.front();
        for (const FieldSpec& other : at.table->fields) {
            if (at.spec->matters(owner)) break;
            if (!other.isScalar() || &other == at.spec) continue;
            const FieldValue before = other.get(owner);
            for (const FieldValue& value : othersOf(other, before)) {
                other.set(owner, value);
                if (at.spec->matters(owner)) break;
                other.set(owner, before);
            }
        }
        if (!at.spec->matters(owner)) return false;
        if (cut == path.npos) return true;
    }
}

std::vector<FieldValue> outside(const FieldSpec& spec) {
    std::vector<double> ends;
    const FieldRange& range = spec.range;
    if (std::isfinite(range.low))
        ends.push_back(range.aboveLow ? range.low : range.low - (spec.form == FieldForm::Whole ? 1 : 0.5));
    if (std::isfinite(range.high) && range.high < 2147483647.0)
        ends.push_back(range.belowHigh ? range.high : range.high * 2 + 1);
    std::vector<FieldValue> all;
    for (const double end : ends) {
        if (spec.form == FieldForm::Whole)
            all.emplace_back(static_cast<std::int64_t>(end));
        else
            all.emplace_back(end);
    }
    return all;
}

// As `orrery-cli serve` and the studio ask: fleet, traffic, capacity.
std::optional<Diagnostic> refusal(const ServingStudy& study, IterationTimes& cache) {
    static const auto drawing = *hardwareOf(studyWith({}));
    FleetOptions options;
    options.cache = &cache;
    auto fleet = fleetOf(study.scenario, drawing, options);
    if (!fleet) return fleet.error();
    auto stream = requestsOf(study.scenario, study.traffic, study.seed);
    if (!stream) return stream.error();
    auto capacity = capacityOf(fleet->fleet, study.traffic, study.capacity);
    if (!capacity) return capacity.error();
    return {};
}

// A document as JSON has it: what looks like a number or a switch is one.
nlohmann::json jsonOf(const YAML::Node& node) {
    nlohmann::json json;
    if (node.IsMap()) {
        json = nlohmann::json::object();
        for (const auto& pair : node) json[pair.first.Scalar()] = jsonOf(pair.second);
    } else if (node.IsSequence()) {
        json = nlohmann::json::array();
        for (const auto& item : node) json.push_back(jsonOf(item));
    } else if (node.IsScalar()) {
        const bool quoted = node.Tag() == "!";
        const auto plain = quoted ? nlohmann::json() : nlohmann::json::parse(node.Scalar(), nullptr, false);
        json = plain.is_number() || plain.is_boolean() ? plain : nlohmann::json(node.Scalar());
    }
    return json;
}

std::string schemaErrorsOf(const YAML::Node& file) {
    static const nlohmann::json schema = [] {
        std::ifstream text(ORRERY_SOURCE "/resources/schema/serving-file.schema.json");
        return nlohmann::json::parse(text, nullptr, false);
    }();
    if (schema.is_discarded()) return "no schema";
    std::vector<std::string> errors;
    orrery::test::checkSchema(jsonOf(file), schema, "$", errors);
    return errors.empty() ? std::string() : errors.front();
}

QString said(const Diagnostic& problem) {
    return QString::fromStdString(toText(problem));
}

}  // namespace

class TestServingFields : public QObject {
    Q_OBJECT

    void eachScalar() {
        QTest::addColumn<QString>("path");
        for (const ListedField& row : servingFields())
            if (row.spec->isScalar()) QTest::newRow(row.path.c_str()) << QString::fromStdString(row.path);
    }
    static const ListedField& rowOf(const QString& path) {
        for (const ListedField& row : servingFields())
            if (row.path == path.toStdString()) return row;
        qFatal("no field %s", qPrintable(path));
    }

private slots:
    void everyRowSaysWhatItIs() {
        QVERIFY(servingFields().size() > 120);
        for (const ListedField& row : servingFields()) {
            const FieldSpec& spec = *row.spec;
            const char* path = row.path.c_str();
            QVERIFY2(!spec.title.empty(), path);
            QVERIFY2(spec.inner || !spec.meaning.empty(), path);
            QVERIFY2(spec.meaning.empty() || spec.meaning.ends_with('.') || spec.meaning.ends_with("…"), path);
            QVERIFY2(spec.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == spec.key.npos, path);
            QVERIFY2(!row.table->code.empty() && !row.table->title.empty(), path);
            QVERIFY2(std::ranges::count(row.table->fields, spec.key, &FieldSpec::key) == 1, path);
            if (spec.isNumber()) QVERIFY2(!rangeText(spec).empty(), path);
            if (spec.isNumber() && !spec.none.empty()) QVERIFY2(spec.range.holds(0), path);
            std::set<std::string_view> words;
            for (std::size_t i = 0; i < spec.titles.size(); ++i) {
                QVERIFY2(!spec.titles[i].empty() && !spec.word(static_cast<int>(i)).empty(), path);
                words.insert(spec.word(static_cast<int>(i)));
            }
            QCOMPARE(words.size(), spec.titles.size());
        }
    }

    void theDefaultIsAllowedAndComesBack_data() { eachScalar(); }
    void theDefaultIsAllowedAndComesBack() {
        QFETCH(QString, path);
        const ListedField& row = rowOf(path);
        const auto back = parseField(*row.spec, fieldText(*row.spec, row.usual));
        QVERIFY2(back.has_value(), back ? "" : qPrintable(said(back.error())));
        QVERIFY(*back == row.usual);
        const auto good = checkField(*row.spec, row.usual, "it", "code");
        QVERIFY2(good.has_value(), good ? "" : qPrintable(said(good.error())));
        QVERIFY(fieldValue(ServingStudy{}, path.toStdString()) == row.usual);
        QVERIFY(!fieldWords(*row.spec, row.usual).empty());
    }

    void anotherValueComesBackFromTheFile_data() { eachScalar(); }
    void anotherValueComesBackFromTheFile() {
        QFETCH(QString, path);
        const ListedField& row = rowOf(path);
        const std::string at = path.toStdString();
        ServingStudy study = studyWith(at);
        auto others = othersOf(*row.spec, fieldValue(study, at));
        std::erase(others, row.usual);  // which is not written
        QVERIFY(!others.empty());
        QVERIFY(setField(study, at, others.front()));
        const std::string text = writeServing(study);
        QVERIFY2(text.find(std::string(row.spec->key) + ": ") != std::string::npos, text.c_str());
        const auto read = readServing(text);
        QVERIFY2(read.has_value(), read ? "" : qPrintable(said(read.error())));
        QVERIFY2(read->study == study, text.c_str());
        QVERIFY(read->study != studyWith(at));
        QCOMPARE(servingHash(read->study), servingHash(study));
        const bool words = at == "name" || at == "description";  // which change no answer
        QCOMPARE(servingHash(study) == servingHash(studyWith(at)), words);
        const std::string wrong = schemaErrorsOf(YAML::Load(text));
        QVERIFY2(wrong.empty(), (wrong + "\n" + text).c_str());
    }

    void outOfItsRangeItIsRefusedWithItsLine_data() {
        QTest::addColumn<QString>("path");
        for (const ListedField& row : servingFields())
            if (row.spec->isNumber() && row.path != "seed" && !row.path.starts_with("compare_with"))
                QTest::newRow(row.path.c_str()) << QString::fromStdString(row.path);
    }
    void outOfItsRangeItIsRefusedWithItsLine() {
        QFETCH(QString, path);
        const std::string at = path.toStdString();
        const FieldSpec& spec = *rowOf(path).spec;
        static IterationTimes cache;
        for (const FieldValue& value : outside(spec)) {
            ServingStudy study = studyWith(at);
            QVERIFY2(makeItMatter(study, at), "nothing makes it matter");
            QVERIFY(setField(study, at, value));
            const std::string text = writeServing(study);
            const auto read = readServing(text, "q.yaml");
            QVERIFY2(read.has_value(), read ? "" : qPrintable(said(read.error())));
            auto problem = refusal(read->study, cache);
            QVERIFY2(problem, text.c_str());
            *problem = located(*problem, read->study, read->places);
            const std::string_view code = spec.code.empty() ? rowOf(path).table->code : spec.code;
            QVERIFY2(problem->code == code, qPrintable(said(*problem)));
            QVERIFY2(problem->place.path.ends_with(spec.key), qPrintable(said(*problem)));
            QVERIFY2(problem->expected.starts_with(rangeText(spec)), qPrintable(said(*problem)));
            // Lists count their items in files.
            std::string there = at;
            for (const char* list : {"pools/", "tenants/", "stages/", "failures/"})
                if (there.starts_with(list)) there.insert(there.find('/'), "[1]");
            QVERIFY2(read->places.contains(there), text.c_str());
            QCOMPARE(problem->place.line, read->places.at(there).line);
            QCOMPARE(QString::fromStdString(problem->place.file), QString("q.yaml"));
        }
    }

    void aSweepSetsItByItsPath_data() {
        QTest::addColumn<QString>("path");
        for (const ListedField& row : servingFields())
            if (row.spec->isSwept()) QTest::newRow(row.path.c_str()) << QString::fromStdString(row.path);
    }
    void aSweepSetsItByItsPath() {
        QFETCH(QString, path);
        const std::string at = path.toStdString();
        const FieldSpec& spec = *rowOf(path).spec;
        ServingStudy study = studyWith(at);
        const FieldValue other = othersOf(spec, fieldValue(study, at)).front();
        const auto set = setSweepValue(study, at, fieldText(spec, other));
        QVERIFY2(set.has_value(), set ? "" : qPrintable(said(set.error())));
        QVERIFY(fieldValue(study, at) == other);
        for (const FieldValue& value : outside(spec)) {
            const auto refused = setSweepValue(study, at, fieldText(spec, value));
            QVERIFY(!refused.has_value());
            QCOMPARE(QString::fromStdString(refused.error().code), QString("sweep.value"));
            QCOMPARE(QString::fromStdString(refused.error().place.path), "sweep/" + path);
            QVERIFY(!refused.error().expected.empty());
        }
        QVERIFY(fieldValue(study, at) == other);
        const auto keys = sweepKeys();
        QVERIFY(std::ranges::find(keys, at, &SweepKey::key) != keys.end());
    }

    // One pool of several is meant by its number, all of them without it.
    void aPathNamesOneOrAll() {
        ServingStudy study;
        study.scenario.pools.resize(3);
        QVERIFY(setSweepValue(study, "pools[2]/plan/tensor", "4").has_value());
        QCOMPARE(study.scenario.pools[0].plan.tensor, 1);
        QCOMPARE(study.scenario.pools[1].plan.tensor, 4);
        QVERIFY(setSweepValue(study, "pools/plan/tensor", "2").has_value());
        for (const PoolSpec& pool : study.scenario.pools) QCOMPARE(pool.plan.tensor, 2);
        QVERIFY(setSweepValue(study, "promise/ttft", "250 ms").has_value());
        QCOMPARE(study.scenario.promise.ttft, 0.25);
        const auto code = [&](const char* key, const char* value) {
            ServingStudy copy = study;
            const auto set = setSweepValue(copy, key, value);
            return QString::fromStdString(set ? std::string("accepted") : set.error().code);
        };
        QCOMPARE(code("pools[4]/plan/tensor", "2"), QString("sweep.value"));
        QCOMPARE(code("tenants/share", "2"), QString("sweep.value"));
        QCOMPARE(code("pools[0]/plan/tensor", "2"), QString("sweep.key"));
        QCOMPARE(code("pools[x]/plan/tensor", "2"), QString("sweep.key"));
        QCOMPARE(code("pools/plan", "2"), QString("sweep.key"));
        QCOMPARE(code("pools/plan/tensor/", "2"), QString("sweep.key"));
        QCOMPARE(code("", "2"), QString("sweep.key"));
        QCOMPARE(code("pools/clock", "fastest"), QString("sweep.value"));
        QCOMPARE(code("pools/clock", "lowest"), QString("accepted"));
    }

    // A sweep in a file may name paths; configurations that differ only in what does not matter are one.
    void aFileSweepsPaths() {
        const auto read = readServing(
            "orrery: serving/1\nhardware: a100-80-sxm\nmodel: {source: llama-2-7b}\npools:\n  - time: {kind: law, law: "
            "{fixed: 10 ms}}\ntraffic: {requests: 20}\nsweep:\n  pools/memory_share: [0.8, 0.9]\n"
            "  traffic/arrivals/kind: [poisson, gamma]\n  traffic/arrivals/cv: [2, 3]\n");
        QVERIFY2(read.has_value(), read ? "" : qPrintable(said(read.error())));
        const std::string once = writeServing(read->study);
        QCOMPARE(QString::fromStdString(writeServing(readServing(once)->study)), QString::fromStdString(once));
        const auto points = runSweep(read->study, {});
        QVERIFY2(points.has_value(), points ? "" : qPrintable(said(points.error())));
        QCOMPARE(points->size(), std::size_t{8});
        int asked = 0;
        for (const auto& point : *points) {
            QVERIFY2(!point.failure, point.failure ? qPrintable(said(*point.failure)) : "");
            asked += point.sameAs < 0;
        }
        QCOMPARE(asked, 6);
    }

    void theSchemaKnowsTheExamplesAndRefusesNonsense() {
        int files = 0;
        QDirIterator each(ORRERY_SOURCE "/presets/examples", {"*.yaml"}, QDir::Files);
        while (each.hasNext()) {
            const YAML::Node project = YAML::LoadFile(each.next().toStdString());
            if (!project["serving"]) continue;
            ++files;
            const std::string wrong = schemaErrorsOf(project["serving"]);
            QVERIFY2(wrong.empty(), (each.fileName().toStdString() + ": " + wrong).c_str());
        }
        QVERIFY(files >= 3);
        for (const char* bad : {"pools: [{plan: {tensor: 0}}]", "traffic: {arrivals: {kind: poison}}", "pools: {a: 1}",
                                "traffic: {arrivals: {rate: 0}}", "pools: [{scheduler: {watermark: 1}}]",
                                "pools: [{admission: {drop_late: 3}}]", "orrery: serving/9", "seed: 1.5"})
            QVERIFY2(!schemaErrorsOf(YAML::Load(bad)).empty(), bad);
    }

    void theHandbookListsEveryKey() {
        std::ifstream file(ORRERY_SOURCE "/resources/handbook/serving-keys.md");
        const std::string page{std::istreambuf_iterator<char>(file), {}};
        const std::string table = servingKeysMarkdown();
        if (page.find(table) != page.npos) return;
        QDir().mkpath(ORRERY_TEST_OUTPUT);
        std::ofstream(ORRERY_TEST_OUTPUT "/serving-keys.md") << table;
        QFAIL("the page is not the table: take it from " ORRERY_TEST_OUTPUT "/serving-keys.md");
    }
};

QTEST_APPLESS_MAIN(TestServingFields)
#include "tst_serving_fields.moc"
