// The judge page asks: every method about the rows, off the window's thread, and what came of it compared.

#include "app/document/background.h"
#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/row_detail_view.h"
#include "learning/calibration.h"
#include "store/judging/judged_rows.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QTimer>

#include <algorithm>
#include <mutex>

namespace orrery::app {

namespace {

/// What the worker has finished and the window has not taken yet.
struct Inbox {
    std::mutex lock;
    std::vector<std::pair<std::size_t, Judgement>> fresh;
    std::vector<RowRef> asked;
    ReferenceTablesPtr tables;
    std::optional<MethodMatrix> matrix;
};

/// Puts the matrix of what has been said into the inbox, now and then: it takes the worker longer with every method.
class MatrixNews {
public:
    void add(Inbox& inbox, const JudgingQuestion& question, const std::vector<ReferenceTable>& tables,
             const std::vector<RowRef>& rows, const std::vector<Judgement>& judged) {
        if (quiet_.isValid() && quiet_.nsecsElapsed() < rest * took_) return;
        QElapsedTimer clock;
        clock.start();
        MethodMatrix matrix = matrixSoFar(question, tables, rows, judged);
        took_ = clock.nsecsElapsed();
        quiet_.start();
        const std::lock_guard held(inbox.lock);
        inbox.matrix = std::move(matrix);
    }

private:
    static constexpr qint64 rest = 20;  // at most a twentieth of the judging
    QElapsedTimer quiet_;
    qint64 took_ = 0;
};

}  // namespace

const CalibrationSet& AccuracyTab::calibrations() const {
    return calibrations_ ? *calibrations_ : shippedCalibrations().set;
}

bool AccuracyTab::isJudging() const {
    return judging_ || work_->isRunning();
}

void AccuracyTab::judge() {
    const auto filter = parseFilter(where_->text().toStdString());
    if (!filter) {
        state_->setTone(ui::Tone::Bad);
        return state_->setFullText(ui::windowText(toText(filter.error())));
    }
    state_->setTone(ui::Tone::Muted);
    complaint_.clear();
    if (!opened_) tables_ = tablesOfShelf();
    judged_.clear();
    compared_.reset();
    soFar_.reset();
    shown_ = -1;
    JudgingQuestion asked = question();
    if (opened_ && isAsOpened(asked)) asked.saved = opened_->saved;
    judged_ = toBeJudged(choices_ && !opened_ ? choices_() : QStringList(), asked.methods);
    judging_ = true;
    row_->clear();
    fillMethodsMenu();
    showMatrix();
    showMethods();
    const auto inbox = std::make_shared<Inbox>();
    const auto take = [this, inbox] {
        std::vector<std::pair<std::size_t, Judgement>> fresh;
        std::optional<MethodMatrix> matrix;
        {
            const std::lock_guard held(inbox->lock);
            fresh.swap(inbox->fresh);
            matrix.swap(inbox->matrix);
            asked_ = inbox->asked;
            if (inbox->tables) tables_ = inbox->tables;
        }
        for (auto& [at, judgement] : fresh)
            if (at < judged_.size()) judged_[at] = std::move(judgement);
        return std::pair(!fresh.empty(), std::move(matrix));
    };
    const auto takeAll = [this, take] {
        auto [fresh, matrix] = take();
        if (fresh) showMethods();
        if (!matrix) return;
        soFar_ = std::move(matrix);
        // In a turn of its own.
        QTimer::singleShot(0, this, [this] {
            if (soFar_) showMatrix();
        });
    };
    disconnect(work_, &Background::advanced, run_, nullptr);
    connect(work_, &Background::advanced, run_, takeAll);
    work_->start([this, own = opened_ ? ReferenceTablesPtr() : tables_, calibrations = calibrations_, filter = *filter,
                  inbox, take, takeAll, asked, finder = facts_,
                  jobs = judged_](std::stop_token stop, Progress& progress) -> Background::Finish {
        const auto failed = [this](const Diagnostic& why) {
            return Background::Finish([this, words = ui::windowText(toText(why))] {
                complaint_ = words;
                judged_.clear();
            });
        };
        const CalibrationSet& learned = calibrations ? *calibrations : shippedCalibrations().set;
        ReferenceTablesPtr tables = own;
        if (!tables) {
            auto read = judgingTables(asked);
            if (!read) return failed(read.error());
            tables = std::move(*read);
        }
        auto chosen = selectRows(*tables, filter);
        const auto rows =
            thinned(asked.seen ? std::move(chosen) : unseen(*tables, std::move(chosen), learned), asked.most);
        progress.setTotal(rows.size() * jobs.size());
        {
            const std::lock_guard held(inbox->lock);
            inbox->asked = rows;
            inbox->tables = tables;
        }
        // Before anybody is asked, as the command line does.
        Diagnostics warnings;
        auto imported = importedEntries(asked.results, *tables, rows, warnings);
        if (!imported) return failed(imported.error());
        const auto executor = makeDefaultExecutor();
        std::vector<Judgement> done = jobs;
        MatrixNews news;
        for (std::size_t i = 0; i < jobs.size() && !stop.stop_requested(); ++i) {
            EvaluateOptions options;
            options.executor = executor.get();
            options.stop = stop;
            options.calibrations = calibrations.get();
            options.asMeasured = asked.equal;
            options.leaveDeviceOut = asked.leaveDeviceOut;
            Judgement judgement = jobs[i];
            options.options = optionsOf(judgement.method);
            auto answer = evaluate(*findMethod(judgement.method.toStdString()), *tables, rows, options);
            if (answer) {
                judgement.evaluation = std::make_shared<const Evaluation>(std::move(*answer));
            } else {
                judgement.failure = std::move(answer.error());
            }
            progress.advance(rows.size());
            done[i] = judgement;
            {
                const std::lock_guard held(inbox->lock);
                inbox->fresh.emplace_back(i, std::move(judgement));
            }
            news.add(*inbox, asked, *tables, rows, done);
        }
        std::vector<Judgement> others;
        for (const JudgedEntry& entry : *imported) others.push_back(judgementOf(entry));
        done.insert(done.end(), others.begin(), others.end());
        Judged page = pageOf(asked, tables, rows, done);
        page.warnings = std::move(warnings);
        // Stopped while methods were asked, what they have said is compared; stopped later, it stands by itself.
        const bool early = stop.stop_requested();
        auto compared = comparedOf(std::move(page), learned, *finder, early ? std::stop_token() : stop);
        if (!early && stop.stop_requested()) return [takeAll] { takeAll(); };
        return [this, take, compared = std::move(compared), others] {
            take();  // shown with all the rest
            judged_.insert(judged_.end(), others.begin(), others.end());
            compared_ = compared;
            soFar_.reset();
        };
    });
}

void AccuracyTab::judgeOnceRead() {
    opened_.reset();
    results_.clear();
    showFile();
    shelf_->readShipped();
    whenRead([this] { judge(); });
}

void AccuracyTab::whenRead(const std::function<void()>& then) {
    if (!shelf_->isReading()) return then();
    auto* once = new QObject(this);
    connect(shelf_, &ReferenceShelf::readingChanged, once, [this, once, then](bool reading) {
        if (reading) return;
        shelf_->disconnect(once);
        once->deleteLater();
        then();
    });
}

void AccuracyTab::compare() {
    if (judged_.empty() || judging_) {
        stale_ = !judged_.empty();
        return showChips();
    }
    JudgingQuestion asked = question();
    if (opened_ && isAsOpened(asked)) asked.saved = opened_->saved;
    work_->start([page = pageOf(asked, tables_, asked_, judged_), calibrations = calibrations_, finder = facts_, this](
                     std::stop_token stop, Progress&) {
        auto compared = comparedOf(page, calibrations ? *calibrations : shippedCalibrations().set, *finder, stop);
        if (stop.stop_requested())
            return Background::Finish([this] { complaint_ = tr("Stopped: the figures are for the earlier choice"); });
        return Background::Finish([this, compared = std::move(compared)] {
            complaint_.clear();
            compared_ = compared;
        });
    });
    showChips();
}

void AccuracyTab::importResults(const QString& file) {
    if (judged_.empty() || work_->isRunning()) return;
    if (std::ranges::find(results_, file.toStdString()) != results_.end()) return;
    complaint_.clear();
    std::vector<std::string> all = results_;
    all.push_back(file.toStdString());
    JudgingQuestion asked = question();
    asked.results = all;
    work_->start([this, all, page = pageOf(asked, tables_, asked_, judged_), calibrations = calibrations_,
                  finder = facts_](std::stop_token stop, Progress&) mutable -> Background::Finish {
        auto entries = importedEntries(std::span(all).last(1), *page.tables, page.asked, page.warnings);
        if (!entries) return [this, words = ui::windowText(toText(entries.error()))] { complaint_ = words; };
        std::vector<Judgement> fresh;
        for (JudgedEntry& entry : *entries) {
            const bool known =
                std::ranges::any_of(page.entries, [&](const JudgedEntry& each) { return each.asked == entry.asked; });
            if (known) {
                const QString words = tr("There is already a method '%1' here: %2 is not read")
                                          .arg(ui::qs(entry.asked), QFileInfo(ui::qs(all.back())).fileName());
                return [this, words] { complaint_ = words; };
            }
            fresh.push_back(judgementOf(entry));
            page.entries.push_back(std::move(entry));
        }
        auto compared =
            comparedOf(std::move(page), calibrations ? *calibrations : shippedCalibrations().set, *finder, stop);
        if (stop.stop_requested()) return [this] { complaint_ = tr("Stopped: the results are not read"); };
        return [this, all, fresh, compared = std::move(compared)] {
            results_ = all;
            judged_.insert(judged_.end(), fresh.begin(), fresh.end());
            compared_ = compared;
        };
    });
}

void AccuracyTab::removeResults() {
    if (judging_ || work_->isRunning()) return;
    results_.clear();
    std::erase_if(judged_, [](const Judgement& each) { return !each.importedFrom.isEmpty(); });
    compared_.reset();  // places of judgements have moved
    shown_ = focused_ = -1;
    compare();
}

}  // namespace orrery::app
