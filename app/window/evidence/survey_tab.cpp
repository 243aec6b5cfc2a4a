#include "app/window/evidence/survey_tab.h"

#include "app/document/background.h"
#include "app/window/evidence/accuracy_tab.h"
#include "app/window/form_parts.h"
#include "app/window/shown_export.h"
#include "app/window/state_line.h"
#include "base/text/latex_table.h"
#include "evaluation/survey/survey_export.h"
#include "store/judging/judging_figures.h"
#include "store/judging/survey_figure.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/evidence/survey_matrix.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include <cmath>
#include <set>

namespace orrery::app {

namespace {

ui::Cell wordCell(const QString& text, const QString& tip = {}) {
    return {text, 0, tip, ui::Tone::Normal, false};
}

QString sourcesOf(const SurveyMark& mark) {
    QStringList lines;
    for (const SurveySource& source : mark.sources)
        lines << SurveyTab::tr("%1: %2 rows").arg(ui::qs(source.table)).arg(source.rows);
    return lines.join(QLatin1Char('\n'));
}

}  // namespace

SurveyTab::SurveyTab(AccuracyTab* accuracy, QWidget* parent) : QWidget(parent), accuracy_(accuracy) {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    column->setSpacing(unit);
    auto* head = new QHBoxLayout;
    head->setSpacing(unit);
    by_ = namedChoice(this, "survey.by", tr("Columns"), tr("Columns: platforms, classes of workload, levels"));
    by_->addItems({tr("By platform"), tr("By class of workload"), tr("By level")});
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setObjectName(QStringLiteral("survey.state"));
    state_->setWordWrap(true);
    open_ = named(new QPushButton(tr("Show in Accuracy"), this), "survey.open", tr("Show in Accuracy and cost"),
                  tr("These rows and this method on the first tab"));
    export_ = named(new QPushButton(tr("Export …"), this), "survey.export", tr("Export"),
                    tr("The table that is shown as a picture, the marks or the methods as CSV, everything as JSON or "
                       "Markdown"));
    head->addWidget(by_);
    head->addWidget(state_, 1);
    head->addWidget(open_);
    head->addWidget(export_);
    column->addLayout(head);
    auto* split = named(new QSplitter(Qt::Vertical, this), "survey.split", tr("Tables, and what they are made of"),
                        tr("Drag the border to give one part more room"));
    split->setChildrenCollapsible(false);
    matrix_ = new ui::SurveyMatrix(split);
    below_ = named(new QTabWidget(split), "survey.below", tr("Rows and methods"),
                   tr("The rows of the chosen mark, and what each method takes"));
    below_->setDocumentMode(true);
    below_->tabBar()->setObjectName(QStringLiteral("survey.belowTabs"));
    below_->tabBar()->setAccessibleName(tr("Rows and methods"));
    below_->tabBar()->setToolTip(tr("The rows of the chosen mark, and what each method takes"));
    methods_ =
        new ui::CellsTable(QStringLiteral("survey.methods"), tr("Methods"),
                           tr("Speed, data needed, how a prediction can be read, where it fails"), ui::stackOf(below_));
    rows_ = new ui::CellsTable(QStringLiteral("survey.rows"), tr("Rows of the chosen mark"),
                               tr("What was measured, what was predicted"), ui::stackOf(below_));
    below_->addTab(methods_, tr("Methods"));
    below_->addTab(rows_, tr("Rows"));
    split->addWidget(matrix_);
    split->addWidget(below_);
    split->setSizes({260, 240});
    column->addWidget(split, 1);
    connect(by_, &QComboBox::currentIndexChanged, this, &SurveyTab::show);
    connect(matrix_, &ui::SurveyMatrix::chosen, this, &SurveyTab::choose);
    connect(open_, &QPushButton::clicked, this, [this] {
        if (const SurveyTable* shown = table()) emit openRequested(shown->by, word_, entry_);
    });
    connect(export_, &QPushButton::clicked, this, &SurveyTab::chooseFile);
    work_ = new Background(this);
    connect(accuracy_, &AccuracyTab::judged, this, &SurveyTab::renew);
    show();
}

const SurveyTable* SurveyTab::table() const {
    if (!survey_) return nullptr;
    return &survey_->tables[static_cast<std::size_t>(std::max(by_->currentIndex(), 0))];
}

void SurveyTab::renew() {
    if (!accuracy_->compared()) {
        survey_.reset();
        return show();
    }
    work_->start([this, judged = accuracy_->judgements(), tables = accuracy_->tables(), rows = accuracy_->asked(),
                  calibrations = accuracy_->ownCalibrations()](std::stop_token, Progress&) {
        auto survey =
            surveyOf(matrixEntries(judged), *tables, rows, calibrations ? *calibrations : shippedCalibrations().set);
        return Background::Finish([this, survey = std::move(survey)] {
            survey_ = survey;
            show();
        });
    });
}

void SurveyTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!survey_) show();  // says what is awaited
}

void SurveyTab::show() {
    ui::SurveyPicture picture;
    word_.clear();
    entry_ = -1;
    open_->setEnabled(false);
    export_->setEnabled(survey_.has_value());
    rows_->setCells({}, {});
    state_->setTone(ui::Tone::Muted);
    if (const SurveyTable* shown = table()) {
        const auto& judged = accuracy_->judgements();
        std::size_t marks = 0, empty = 0;
        for (std::size_t c = 0; c < shown->columns.size(); ++c) {
            picture.columns << tr("%1 · %2").arg(ui::qs(shown->columns[c])).arg(shown->rows[c]);
            picture.columnTips << tr("%1: %2 rows of references. The scale is the mean error")
                                      .arg(ui::qs(shown->columns[c]))
                                      .arg(shown->rows[c]);
        }
        for (std::size_t line = 0; line < shown->cells.size(); ++line) {
            ui::SurveyPicture::Row row{ui::qs(toText(surveyed()[line])), static_cast<int>(surveyed()[line]), {}};
            for (const SurveyCell& cell : shown->cells[line]) {
                ui::SurveyPicture::Cell made;
                made.missing = ui::qs(cell.missing);
                QStringList words;
                for (const SurveyMark& mark : cell.marks) {
                    const QString title = mark.entry < judged.size() ? judged[mark.entry].title : QString();
                    words << tr("%1 %2 (%3 rows)").arg(title, ui::percentText(mark.mape)).arg(mark.which.size());
                    made.marks.push_back({static_cast<int>(mark.entry), mark.mape, mark.simulated,
                                          words.back() + QLatin1Char('\n') + sourcesOf(mark)});
                }
                made.text = words.join(QLatin1Char('\n'));
                marks += cell.marks.size();
                empty += cell.marks.empty() ? 1 : 0;
                row.cells.push_back(std::move(made));
            }
            picture.rows.push_back(std::move(row));
        }
        state_->setFullText(tr("%1 marks. Each shows a method's mean error on the rows there, from 1 to 300 %. %2 "
                               "cells are empty. Click a dot to list its rows.")
                                .arg(marks)
                                .arg(empty));
    } else {
        state_->setFullText(tr("Tables like those of survey papers, from the rows judged on the first tab."));
    }
    matrix_->setEmptyText(accuracy_->isJudging()
                              ? tr("Methods are being judged. The tables appear when all have answered.")
                              : tr("Judge the methods on the first tab. This then shows which kinds of method were "
                                   "compared with measurements, and where."));
    matrix_->setPicture(std::move(picture));
    showMethods();
}

void SurveyTab::showMethods() {
    std::vector<std::vector<ui::Cell>> cells;
    const auto& judged = accuracy_->judgements();
    for (const SurveyLine& line : survey_ ? survey_->lines : std::vector<SurveyLine>()) {
        if (line.entry >= judged.size()) continue;
        const MethodCard& card = *judged[line.entry].card;
        QStringList needs;
        for (const std::string& need : line.needs) needs << ui::qs(need);
        cells.push_back(
            {wordCell(judged[line.entry].title, ui::qs(card.summary)),
             wordCell(ui::qs(toText(card.methodology))),
             wordCell(ui::qs(toText(card.level))),
             {ui::countText(static_cast<double>(line.rows)), static_cast<double>(line.rows)},
             wordCell(line.speed.empty() ? tr("not stated") : ui::qs(line.speed)),
             wordCell(needs.join(QStringLiteral("; ")), needs.join(QLatin1Char('\n'))),
             {ui::countText(static_cast<double>(line.samples)), static_cast<double>(line.samples)},
             wordCell(line.reading == "terms" ? tr("%1 terms").arg(line.terms) : ui::qs(line.reading),
                      ui::qs(line.readingWhy)),
             line.worst.workloadClass.empty()
                 ? wordCell(tr("no row"))
                 : ui::Cell{tr("%1 %2").arg(ui::qs(line.worst.workloadClass), ui::percentText(line.worst.mape)),
                            line.worst.mape, tr("%n row(s)", nullptr, static_cast<int>(line.worst.rows))},
             wordCell(ui::qs(line.failureMode), ui::qs(line.failureMode))});
    }
    methods_->setCells({tr("Method"), tr("Methodology"), tr("Level"), tr("Rows"), tr("Speed"), tr("Data needed"),
                        tr("Fitted to"), tr("Reading"), tr("Furthest off"), tr("Breaks on")},
                       std::move(cells));
    // Options of a method may be paths: what it is about stands in the columns beside its name.
    constexpr double widestName = 220;
    const int widest = static_cast<int>(widestName * ui::Theme::instance().scale());
    if (methods_->columnWidth(0) > widest) methods_->setColumnWidth(0, widest);
}

void SurveyTab::choose(int row, int column, const QList<int>& entries) {
    const SurveyTable* shown = table();
    if (!shown) return;
    const SurveyCell& cell = shown->cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    word_ = ui::qs(shown->columns[static_cast<std::size_t>(column)]);
    entry_ = entries.isEmpty() ? -1 : entries.front();
    const auto& judged = accuracy_->judgements();
    std::vector<std::vector<ui::Cell>> cells;
    QString said = cell.missing.empty() ? QString() : ui::qs(cell.missing);
    for (const SurveyMark& mark : cell.marks) {
        const bool wanted = entries.isEmpty() || entries.contains(static_cast<int>(mark.entry));
        if (!wanted || mark.entry >= judged.size()) continue;
        if (entry_ < 0) entry_ = static_cast<int>(mark.entry);
        const Judgement& by = judged[mark.entry];
        said += (said.isEmpty() ? QString() : QStringLiteral("; ")) +
                tr("%1 on %2: %3 rows, mean error %4")
                    .arg(by.title, word_, ui::countText(static_cast<double>(mark.which.size())),
                         ui::percentText(mark.mape));
        if (!by.evaluation) continue;
        const EvaluatedRows& all = by.evaluation->rows;
        std::set<std::uint64_t> its;
        for (const RowRef ref : mark.which) its.insert(rowKey(ref));
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!its.contains(rowKey(all.ref[i]))) continue;
            const double error = all.error(i);
            cells.push_back(
                {wordCell(by.title),
                 wordCell(ui::qs(rowText(*accuracy_->tables(), all.ref[i]))),
                 {ui::text(Seconds(all.measured[i])), all.measured[i]},
                 {ui::text(Seconds(all.predicted[i])), all.predicted[i]},
                 {ui::signedPercentText(error), std::fabs(error)},
                 wordCell(ui::qs((*accuracy_->tables())[static_cast<std::size_t>(all.ref[i].table)].name))});
        }
    }
    open_->setEnabled(!cell.marks.empty());
    rows_->setCells({tr("Method"), tr("Row"), tr("Measured"), tr("Predicted"), tr("Error"), tr("Table")},
                    std::move(cells));
    below_->setCurrentWidget(rows_);
    state_->setTone(ui::Tone::Muted);
    state_->setFullText(said);
}

QString SurveyTab::exportTo(const QString& file) const {
    if (!survey_) return tr("Nothing has been judged yet.");
    const auto entries = matrixEntries(accuracy_->judgements());
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("pdf") || ending == QLatin1String("png"))
        return writeShown(file, {{}, matrix_, {}, {}});
    const std::string text = ending == QLatin1String("svg")                ? surveySvg(*table(), entries, pageWidth)
                             : ending == QLatin1String("json")             ? surveyJson(*survey_, entries)
                             : ending == QLatin1String("md")               ? surveyMarkdown(*survey_, entries)
                             : file.endsWith(QLatin1String("methods.csv")) ? surveyMethodsCsv(*survey_, entries)
                                                                           : surveyCsv(*survey_, entries);
    return ui::writeText(file, QByteArray::fromStdString(ending == QLatin1String("tex") ? latexTable(text) : text));
}

void SurveyTab::chooseFile() {
    askAndSave(
        this,
        {tr("Export"),
         "survey.export.dialog",
         {tr("Markdown (*.md)"), tr("CSV of the marks (*.csv)"), tr("CSV of the methods (*.methods.csv)"),
          tr("TEX table (*.tex)"), tr("JSON (*.json)"), tr("SVG of this table (*.svg)"),
          tr("PDF of this table (*.pdf)"), tr("PNG of this table (*.png)")}},
        [this](const QString& file) { return exportTo(file); }, *state_);
}

}  // namespace orrery::app
