#include "app/window/evidence/runs_tab.h"

#include "app/window/form_parts.h"
#include "app/window/settings.h"
#include "methods/method.h"
#include "store/export/exports.h"
#include "store/runs/run_change.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <QComboBox>
#include <QDateTime>
#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSaveFile>
#include <QSettings>
#include <QSplitter>
#include <QUrl>

#include <algorithm>

namespace orrery::app {

namespace {

/// Paths hold slashes, which would be groups of the settings.
QString baselineKey(const QString& file) {
    const QByteArray path = QFileInfo(file).absoluteFilePath().toUtf8();
    return QStringLiteral("baselines/") + QString::fromLatin1(path.toBase64(QByteArray::Base64UrlEncoding));
}

ui::Cell word(const QString& text, ui::Tone tone = ui::Tone::Normal) {
    return {text, 0, text, tone, false};
}

QString startOf(const StoredRun& run) {
    const QDateTime started = QDateTime::fromString(ui::qs(run.started), Qt::ISODate).toLocalTime();
    return started.isValid() ? started.toString(QStringLiteral("d MMM yyyy hh:mm")) : ui::qs(run.started);
}

}  // namespace

RunsTab::RunsTab(QWidget* parent) : QWidget(parent), source_([] { return QString(); }) {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    column->setSpacing(unit);
    auto* head = new QHBoxLayout;
    head->setSpacing(unit);
    report_ = named(new QPushButton(tr("Open the report"), this), "runs.report", tr("Open the report of the run"),
                    tr("Writes it again from the database and shows it in the browser"));
    other_ = named(new QComboBox(this), "runs.other", tr("Compare with"),
                   tr("Another run: its predictions are shown beside those of the selected run"));
    other_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    pin_ = named(new QPushButton(tr("Pin as baseline"), this), "runs.pin", tr("Pin as baseline"),
                 tr("The selected run is the baseline: other runs of this project are compared with it"));
    pin_->setCheckable(true);
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setObjectName(QStringLiteral("runs.state"));
    state_->setElided(true);
    head->addWidget(report_);
    head->addWidget(other_);
    head->addWidget(pin_);
    head->addWidget(state_, 1);
    column->addLayout(head);
    auto* split = named(new QSplitter(Qt::Vertical, this), "runs.split", tr("Runs and results"),
                        tr("Drag the border to give one part more room"));
    split->setChildrenCollapsible(false);
    list_ = new ui::CellsTable(QStringLiteral("runs.list"), tr("Runs of the project"),
                               tr("Every run in the project's database"), split);
    results_ = new ui::CellsTable(QStringLiteral("runs.results"), tr("Results of the run"),
                                  tr("What each method answered to each question"), split);
    split->addWidget(list_);
    split->addWidget(results_);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 3);
    column->addWidget(split, 1);
    connect(list_, &ui::CellsTable::rowChosen, this, &RunsTab::showRun);
    connect(other_, &QComboBox::activated, this, &RunsTab::showResults);
    connect(pin_, &QPushButton::clicked, this, &RunsTab::pin);
    connect(report_, &QPushButton::clicked, this, &RunsTab::openReport);
    refresh();
}

void RunsTab::setSource(std::function<QString()> file) {
    source_ = std::move(file);
    shown_ = -1;
    refresh();
}

void RunsTab::refresh() {
    // Who looks at the newest run looks at the next one when it comes.
    const bool newest = runs_.empty() || shown_ == runs_.front().id;
    runs_.clear();
    state_->setTone(ui::Tone::Muted);
    state_->setFullText(tr("Press Run: its answers are stored beside the project and appear here"));
    if (QFileInfo::exists(source_())) {
        auto store = RunStore::open(source_().toStdString());
        auto runs = store ? (*store)->runs() : tl::unexpected(store.error());
        if (runs) {
            runs_ = std::move(*runs);
            std::ranges::reverse(runs_);
            if (!runs_.empty()) state_->setFullText(source_());
        } else {
            state_->setTone(ui::Tone::Bad);
            state_->setFullText(ui::windowText(toText(runs.error())));
        }
    }
    std::vector<std::vector<ui::Cell>> cells;
    const std::int64_t baseline = pinned();
    for (const StoredRun& run : runs_) {
        QStringList methods;
        for (const std::string& method : run.methods) methods << ui::qs(methodTitle(method));
        cells.push_back(
            {{QString::number(run.id), static_cast<double>(run.id)},
             {startOf(run), static_cast<double>(run.id), ui::qs(run.started), ui::Tone::Normal, false},
             word(ui::qs(run.name)),
             {ui::countText(static_cast<double>(run.results)), static_cast<double>(run.results)},
             {ui::countText(static_cast<double>(run.failures)),
              static_cast<double>(run.failures),
              {},
              run.failures > 0 ? ui::Tone::Warning : ui::Tone::Muted},
             word(run.id == baseline ? tr("baseline") : run.finished ? tr("finished") : tr("stopped"),
                  run.finished ? ui::Tone::Normal : ui::Tone::Warning),
             word(methods.join(QStringLiteral(", ")))});
    }
    list_->setCells({tr("Run"), tr("Started"), tr("Name"), tr("Results"), tr("Failures"), tr("State"), tr("Methods")},
                    std::move(cells));
    auto row = std::ranges::find(runs_, shown_, &StoredRun::id);
    if (newest || row == runs_.end()) row = runs_.begin();
    shown_ = row == runs_.end() ? -1 : row->id;
    {
        const QSignalBlocker quiet(list_);
        list_->setCurrentRow(row == runs_.end() ? -1 : static_cast<int>(row - runs_.begin()));
    }
    const bool chosen = other_->currentData().isValid() && other_->currentData().toLongLong() >= 0;
    const QVariant compared = chosen ? other_->currentData() : QVariant::fromValue<qint64>(baseline);
    other_->clear();
    other_->addItem(tr("Compare with no other run"), QVariant::fromValue<qint64>(-1));
    for (const StoredRun& run : runs_)
        other_->addItem(run.id == baseline ? tr("Compare with the baseline, run %1, %2").arg(run.id).arg(startOf(run))
                                           : tr("Compare with run %1, %2").arg(run.id).arg(startOf(run)),
                        QVariant::fromValue<qint64>(run.id));
    other_->setCurrentIndex(std::max(0, other_->findData(compared)));
    showResults();
}

void RunsTab::showRun(int row) {
    if (row < 0 || static_cast<std::size_t>(row) >= runs_.size()) return;
    shown_ = runs_[static_cast<std::size_t>(row)].id;
    showResults();
}

std::vector<StoredResult> RunsTab::resultsOf(std::int64_t run) const {
    if (run < 0) return {};
    auto store = RunStore::open(source_().toStdString());
    if (!store) return {};
    auto results = (*store)->results(run);
    return results ? std::move(*results) : std::vector<StoredResult>{};
}

void RunsTab::showResults() {
    report_->setEnabled(shown_ >= 0);
    pin_->setEnabled(shown_ >= 0);
    pin_->setChecked(shown_ >= 0 && shown_ == pinned());
    other_->setEnabled(runs_.size() > 1);
    const std::int64_t compared = other_->currentData().toLongLong();
    const bool both = compared >= 0 && compared != shown_;
    const auto results = resultsOf(shown_);
    const auto others = both ? resultsOf(compared) : std::vector<StoredResult>{};
    QStringList heads{tr("Question"), tr("Method"), tr("Prediction"), tr("Interval"), tr("Cost")};
    if (both) heads << tr("Run %1").arg(compared) << tr("Change") << tr("Different");
    std::vector<std::vector<ui::Cell>> cells;
    for (const StoredResult& result : results) {
        std::vector<ui::Cell> row{word(ui::qs(result.workload) + tr(" on ") + ui::qs(result.hardware)),
                                  word(ui::qs(methodTitle(result.method)))};
        if (result.estimateJson.empty()) {
            row.push_back({tr("failed"), 1e300, ui::qs(result.failure), ui::Tone::Bad, true});
            row.insert(row.end(), 2, ui::Cell{});
        } else {
            row.push_back(
                {ui::text(Seconds(result.latency)), result.latency, ui::fullText(result.latency, Dimension::Time)});
            row.push_back({ui::text(Seconds(result.low)) + QStringLiteral(" – ") + ui::text(Seconds(result.high)),
                           result.high - result.low});
            row.push_back({ui::text(Seconds(result.cost)), result.cost});
        }
        if (both) {
            const auto same = std::ranges::find_if(others, [&](const StoredResult& other) {
                return other.hardware == result.hardware && other.workload == result.workload &&
                       other.method == result.method && !other.estimateJson.empty();
            });
            const bool found = same != others.end() && same->latency > 0 && !result.estimateJson.empty();
            const double change = found ? result.latency / same->latency - 1 : 0;
            row.push_back(found ? ui::Cell{ui::text(Seconds(same->latency)), same->latency}
                                : word(tr("not asked"), ui::Tone::Muted));
            row.push_back(found ? ui::Cell{ui::signedPercentText(change), change} : ui::Cell{});
            QStringList why;
            if (found)
                for (const std::string& each : whatChanged(result, *same)) why << ui::qs(each);
            row.push_back(word(why.join(QStringLiteral(", "))));
        }
        cells.push_back(std::move(row));
    }
    results_->setCells(std::move(heads), std::move(cells));
}

std::int64_t RunsTab::pinned() const {
    return openSettings()->value(baselineKey(source_()), QVariant::fromValue<qint64>(-1)).toLongLong();
}

void RunsTab::pin(bool on) {
    const auto settings = openSettings();
    if (on) {
        settings->setValue(baselineKey(source_()), QVariant::fromValue<qint64>(shown_));
    } else {
        settings->remove(baselineKey(source_()));
    }
    settings->sync();
    // What it was held against is the new baseline, or nothing.
    other_->setCurrentIndex(-1);
    refresh();
}

QString RunsTab::saveReport(const QString& file) const {
    auto store = RunStore::open(source_().toStdString());
    if (!store) return ui::windowText(toText(store.error()));
    const auto restored = restoreRun(**store, shown_);
    if (!restored) return ui::windowText(toText(restored.error()));
    const std::string html = reportHtml(restored->study, restored->results);
    QSaveFile out(file);
    const bool written = out.open(QIODevice::WriteOnly) &&
                         out.write(html.data(), static_cast<qint64>(html.size())) == static_cast<qint64>(html.size()) &&
                         out.commit();
    return written ? QString() : tr("cannot write %1: %2").arg(file, out.errorString());
}

void RunsTab::openReport() {
    const QString file = QDir::temp().filePath(QStringLiteral("orrery-run-%1.html").arg(shown_));
    const QString error = saveReport(file);
    state_->setTone(error.isEmpty() ? ui::Tone::Muted : ui::Tone::Bad);
    state_->setFullText(error.isEmpty() ? tr("Written to %1").arg(file) : error);
    if (error.isEmpty()) QDesktopServices::openUrl(QUrl::fromLocalFile(file));
}

void RunsTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

}  // namespace orrery::app
