// The judge page as a file, and as a folder of figures and tables.

#include "app/document/background.h"
#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/paper.h"
#include "hardware/files/catalogue.h"
#include "store/judging/judging_report.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QSpinBox>

#include <algorithm>

namespace orrery::app {

JudgingQuestion AccuracyTab::question() const {
    JudgingQuestion question;
    question.name = name_.isEmpty() ? "Methods on measured rows" : name_.toStdString();
    question.references = {"shipped"};
    const std::string shipped = presetsFolder() + "/references/";
    for (const ReferenceTable& table : *shelf_->tables()) {
        const bool known = std::ranges::find(question.references, table.file) != question.references.end();
        if (!table.file.empty() && !table.file.starts_with(shipped) && !known)
            question.references.push_back(table.file);
    }
    question.where = where_->text().trimmed().toStdString();
    question.without = how_.off;
    question.most = static_cast<std::size_t>(most_->value());
    question.seen = seen_;
    question.methods = only_;
    if (only_.empty() && choices_) {
        // Fillings that the project names are asked beside all: then all are named.
        const auto all = toBeJudged(choices_());
        if (all.size() > toBeJudged({}).size())
            for (const Judgement& each : all) question.methods.push_back(each.method.toStdString());
    }
    for (const auto& [method, in] : how_.chosen) question.compare[method.toStdString()] = in;
    question.common = how_.common;
    question.equal = how_.equal;
    question.by = how_.by;
    question.published = published_->isChecked();
    question.results = results_;
    if (compared_) {
        question.saved.version = ORRERY_VERSION;
        question.saved.rows = compared_->rows.size();
        question.saved.hash = rowsHash(*tables_, compared_->rows);
    }
    return question;
}

QString AccuracyTab::saveTo(const QString& file) {
    const QString problem = ui::writeText(
        file, QByteArray::fromStdString(writeJudging(question(), QFileInfo(file).absolutePath().toStdString())));
    if (problem.isEmpty()) {
        state_->setTone(ui::Tone::Muted);
        state_->setFullText(tr("On the command line: %1").arg(ui::qs(judgingCommand(file.toStdString()))));
    }
    return problem;
}

void AccuracyTab::ask(const JudgingQuestion& question) {
    name_ = ui::qs(question.name);
    where_->setText(ui::qs(question.where));
    most_->setValue(static_cast<int>(question.most));
    only_ = question.methods;
    results_ = question.results;
    seen_ = question.seen;
    how_.off = question.without;
    how_.chosen.clear();
    for (const auto& [method, in] : question.compare) how_.chosen[ui::qs(method)] = in;
    how_.common = question.common;
    how_.equal = question.equal;
    how_.by = question.by;
    const auto set = [](QCheckBox* box, bool on) {
        const QSignalBlocker quiet(box);
        box->setChecked(on);
    };
    set(common_, question.common);
    set(equal_, question.equal);
    published_->setChecked(question.published);
    by_->setCurrentIndex(std::max(0, by_->findData(static_cast<int>(question.by))));
    QStringList files;
    for (const std::string& each : question.references)
        if (each != "shipped") files << ui::qs(each);
    shelf_->readShipped();
    // One after the other: the shelf joins what it reads to what stood there before.
    whenRead([this, files] {
        if (files.isEmpty()) return judge();
        shelf_->open(files);
        whenRead([this] { judge(); });
    });
}

void AccuracyTab::whenRead(const std::function<void()>& then) {
    if (!shelf_->isReading()) return then();
    auto* once = new QObject(this);
    connect(shelf_, &ReferenceShelf::readingChanged, once, [once, then](bool reading) {
        if (reading) return;
        once->deleteLater();
        then();
    });
}

void AccuracyTab::writePage(const QString& folder) {
    if (!compared_ || work_->isRunning() || writing_->isRunning())
        return emit pageWritten(folder, tr("No method has been judged yet"));
    Judged page;
    page.question = question();
    page.tables = tables_;
    page.asked = asked_;
    for (const Judgement& each : judged_) {
        JudgedEntry entry;
        entry.asked = each.method.toStdString();
        entry.title = each.title.toStdString();
        entry.card = each.card;
        entry.importedFrom = each.importedFrom.toStdString();
        entry.evaluation = each.evaluation;
        entry.refusal = each.failure;
        page.entries.push_back(std::move(entry));
    }
    writing_->start(
        [this, page, folder, calibrations = calibrations_, finder = facts_](std::stop_token, Progress&) mutable {
            compareJudged(page, calibrations ? *calibrations : shippedCalibrations().set, *finder);
            const BenchmarkRun run{page.question.name, {}, {}, {page}, 0};
            QString problem;
            for (const NamedFile& file : judgingFiles(run)) {
                if (problem.isEmpty())
                    problem = ui::writeText(folder + QLatin1Char('/') + ui::qs(file.name),
                                            QByteArray::fromStdString(file.content));
            }
            if (problem.isEmpty()) problem = writePaper(folder);
            return Background::Finish([this, folder, problem] { emit pageWritten(folder, problem); });
        });
}

}  // namespace orrery::app
