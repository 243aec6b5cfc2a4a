#include "app/window/workload/stored_runs.h"

#include "methods/method.h"
#include "store/runs/run_store.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>

#include <algorithm>

namespace orrery::app {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("StoredRuns", text);
}

bool sameOperators(const Workload& a, const Workload& b) {
    return std::ranges::equal(a.graph.operators, b.graph.operators,
                              [](const Operator& x, const Operator& y) { return x.name == y.name; });
}

QString titleOf(const std::string& method) {
    return QString::fromStdString(methodTitle(method));
}

}  // namespace

Expected<std::vector<RunChoice>> storedRuns(const QString& database) {
    std::vector<RunChoice> choices;
    if (!QFileInfo::exists(database)) return choices;
    auto store = RunStore::open(database.toStdString());
    if (!store) return tl::unexpected(store.error());
    auto runs = (*store)->runs();
    if (!runs) return tl::unexpected(runs.error());
    for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
        if (run->results == run->failures) continue;  // nothing to paint
        const QDateTime started =
            QDateTime::fromString(QString::fromStdString(run->started), Qt::ISODate).toLocalTime();
        QStringList methods;
        for (const std::string& method : run->methods) methods << titleOf(method);
        RunChoice choice{run->id, tr("Run %1").arg(run->id), methods.join(QStringLiteral(", "))};
        if (started.isValid()) choice.text += QStringLiteral(" · ") + started.toString(QStringLiteral("d MMM hh:mm"));
        if (!run->finished) choice.text += QStringLiteral(" · ") + tr("not finished");
        choices.push_back(std::move(choice));
    }
    return choices;
}

Expected<std::vector<ui::StoredAnswers>> answersOfRun(const QString& database, std::int64_t run,
                                                      const Workload& workload) {
    auto store = RunStore::open(database.toStdString());
    if (!store) return tl::unexpected(store.error());
    auto restored = restoreRun(**store, run);
    if (!restored) return tl::unexpected(restored.error());
    const auto& scenarios = restored->study.scenarios;
    std::vector<ui::StoredAnswers> lists(scenarios.size());
    std::vector<bool> fits(scenarios.size());
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        fits[i] = scenarios[i].workload && sameOperators(*scenarios[i].workload, workload);
        lists[i].run = QStringLiteral("run-%1-%2").arg(run).arg(i);
    }
    const auto devices = std::count(fits.begin(), fits.end(), true);
    for (const StudyResult& result : restored->results) {
        if (result.scenario >= lists.size() || !fits[result.scenario] || !result.estimate) continue;
        ui::StoredAnswers& list = lists[result.scenario];
        list.title = tr("run %1").arg(run);
        if (devices > 1)
            list.title += QStringLiteral(", ") + QString::fromStdString(scenarios[result.scenario].hardware->name);
        ui::Answer answer;
        answer.method = QString::fromStdString(result.method);
        answer.title = titleOf(result.method);
        answer.estimate = result.estimate;
        list.answers.push_back(std::move(answer));
    }
    std::erase_if(lists, [](const ui::StoredAnswers& list) { return list.answers.empty(); });
    if (lists.empty()) {
        return fail("run.other-workload", "run " + std::to_string(run) + " has no answer for these operators",
                    "a run of this workload with these options and what-ifs",
                    "choose another run, or press Run and use the new one");
    }
    return lists;
}

}  // namespace orrery::app
