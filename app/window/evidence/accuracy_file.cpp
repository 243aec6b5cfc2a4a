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
#include <QToolButton>

#include <algorithm>

namespace orrery::app {

namespace {

bool ships(const ReferenceTable& table) {
    return table.file.starts_with(presetsFolder() + "/references/");
}

/// The question alone, without what it was saved with.
std::string questionText(JudgingQuestion question) {
    question.saved = {};
    return writeJudging(question);
}

}  // namespace

ReferenceTablesPtr AccuracyTab::tablesOfShelf() const {
    const ReferenceTablesPtr& all = shelf_->tables();
    if (std::ranges::is_partitioned(*all, ships)) return all;
    auto ordered = std::make_shared<std::vector<ReferenceTable>>(*all);
    std::ranges::stable_partition(*ordered, ships);
    return ordered;
}

std::vector<std::string> AccuracyTab::referencesOfShelf() const {
    std::vector<std::string> shipped, others;
    std::size_t tables = 0;
    for (const ReferenceTable& table : *shelf_->tables()) {
        if (table.file.empty()) continue;
        const bool here = ships(table);
        tables += here ? 1 : 0;
        auto& files = here ? shipped : others;
        if (std::ranges::find(files, table.file) == files.end()) files.push_back(table.file);
    }
    // Of what ships somebody may have removed a table. Before anything was read, all is meant.
    const bool all = tables == 0 ? others.empty() : tables == shippedReferences().size();
    if (all) shipped = {"shipped"};
    shipped.insert(shipped.end(), others.begin(), others.end());
    return shipped;
}

JudgingQuestion AccuracyTab::question() const {
    JudgingQuestion question = opened_.value_or(JudgingQuestion());
    question.saved = {};
    if (!opened_) {
        question.name = "Methods on measured rows";
        question.references = referencesOfShelf();
        for (const ReferenceTable& table : *shelf_->tables())
            if (!table.file.empty() && !table.import.empty()) question.imports[table.file] = table.import;
        if (choices_) {
            // Fillings that the project names are asked beside all: then all are named.
            const auto all = toBeJudged(choices_());
            if (all.size() > toBeJudged({}).size())
                for (const Judgement& each : all) question.methods.push_back(each.method.toStdString());
        }
    }
    question.where = where_->text().trimmed().toStdString();
    question.without = how_.off;
    question.most = static_cast<std::size_t>(most_->value());
    question.compare.clear();
    for (const auto& [method, in] : how_.chosen) question.compare[method.toStdString()] = in;
    question.common = how_.common;
    question.equal = how_.equal;
    question.by = how_.by;
    question.published = published_->isChecked();
    question.results = results_;
    return question;
}

bool AccuracyTab::isAsOpened(const JudgingQuestion& question) const {
    return opened_ && questionText(question) == questionText(*opened_);
}

QString AccuracyTab::saveTo(const QString& file) {
    JudgingQuestion saved = question();
    // What was judged before the last change is no answer to what the file asks.
    if (compared_ && !work_->isRunning() && compared_->page &&
        questionText(compared_->page->question) == questionText(saved))
        saved.saved = compared_->saved;
    const QString problem = ui::writeText(
        file, QByteArray::fromStdString(writeJudging(saved, QFileInfo(file).absolutePath().toStdString())));
    if (!problem.isEmpty()) return problem;
    // What stands in no file, as what was measured here and not saved, nobody else can read.
    const bool nameless =
        !opened_ && std::ranges::any_of(*tables_, [](const ReferenceTable& table) { return table.file.empty(); });
    const QString command = ui::qs(judgingCommand(file.toStdString()));
    state_->setTone(nameless ? ui::Tone::Warning : ui::Tone::Muted);
    state_->setFullText(
        nameless ? tr("References without a file are not saved with it. On the command line: %1").arg(command)
                 : tr("On the command line: %1").arg(command));
    return {};
}

void AccuracyTab::ask(const JudgingQuestion& question, const QString& file) {
    opened_ = question;
    openedFile_ = file;
    results_ = question.results;
    where_->setText(ui::qs(question.where));
    opened_->where = where_->text().trimmed().toStdString();
    most_->setValue(static_cast<int>(question.most));
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
    by_->setCurrentIndex(by_->findData(static_cast<int>(question.by)));
    QStringList files;
    for (const std::string& each : question.references)
        if (each != "shipped") files << ui::qs(each);
    showFile();
    // The page reads its own references, and no others; those of the file are listed among the references as well.
    whenRead([this, files] {
        if (!files.isEmpty()) shelf_->open(files, opened_ ? opened_->imports : std::map<std::string, std::string>());
        judge();
    });
}

void AccuracyTab::showFile() {
    from_->setVisible(opened_.has_value());
    if (!opened_) return;
    const QString name = QFileInfo(openedFile_).fileName();
    from_->setText(tr("from %1 ✕").arg(name));
    QStringList lines{tr("This page follows %1").arg(openedFile_)};
    const auto listed = [](const std::vector<std::string>& all) {
        QStringList words;
        for (const std::string& each : all) words << ui::qs(each);
        return words.join(QStringLiteral(", "));
    };
    lines << tr("References: %1").arg(listed(opened_->references));
    lines << (opened_->methods.empty() ? tr("Methods: all that need no file")
                                       : tr("Methods: %1").arg(listed(opened_->methods)));
    if (opened_->seen) lines << tr("Rows to which calibrations were fitted count as well");
    if (opened_->leaveDeviceOut) lines << tr("Each device as an unseen device");
    if (!opened_->results.empty()) lines << tr("Results of others: %1").arg(listed(opened_->results));
    if (!opened_->meaning.empty()) lines << ui::qs(opened_->meaning);
    lines << tr("Click to use all open references and all methods, without imported results");
    from_->setToolTip(lines.join(QLatin1Char('\n')));
}

void AccuracyTab::leaveFile() {
    opened_.reset();
    results_.clear();
    openedFile_.clear();
    showFile();
    if (judged_.empty()) return;
    shelf_->readShipped();
    whenRead([this] { judge(); });
}

void AccuracyTab::writePage(const QString& folder) {
    if (!compared_ || work_->isRunning() || writing_->isRunning())
        return emit pageWritten(folder, tr("No method has been judged yet"));
    writing_->start([this, page = compared_->page, folder](std::stop_token, Progress&) {
        const BenchmarkRun run{page->question.name, page->question.meaning, {}, {*page}, 0};
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

Expected<QStringList> AccuracyTab::writeReport(const QString& folder) const {
    QStringList files;
    if (!compared_) return files;
    const Judged& page = *compared_->page;
    for (const NamedFile& file : judgingFiles({page.question.name, page.question.meaning, {}, {page}, 0})) {
        files << folder + QLatin1Char('/') + ui::qs(file.name);
        if (const QString problem = ui::writeText(files.back(), QByteArray::fromStdString(file.content));
            !problem.isEmpty())
            return fail("export.failed", problem.toStdString(), "a folder that can be written", {},
                        Place{files.back().toStdString(), 0, 0, {}});
    }
    return files;
}

}  // namespace orrery::app
