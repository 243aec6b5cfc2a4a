#include "app/window/evidence/transfer_tab.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "app/window/shown_export.h"
#include "app/window/state_line.h"
#include "methods/among_all.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <array>
#include <utility>

namespace orrery::app {

namespace {

/// Columns that stand also where no row does, and say so.
constexpr std::array<std::string_view, 4> always{"GPU", "TPU", "Accelerator", "PIM"};

ui::Cell cellOf(const TransferCell& cell, const QString& where) {
    if (cell.state != TransferCell::State::Judged) {
        const bool none = cell.state == TransferCell::State::NoTruth;
        return {none ? QString() : QStringLiteral("–"), 1e300, where + QLatin1Char('\n') + ui::qs(cell.reason),
                ui::Tone::Muted, true};
    }
    return {
        ui::percentText(cell.mape), cell.mape,
        TransferTab::tr("%1\nMean error %2; median %3 (90 %: %4 to %5); %6 of the rows inside the 90 % interval; %7 "
                        "rows")
            .arg(where, ui::percentText(cell.mape), ui::signedPercentText(cell.median), ui::signedPercentText(cell.low),
                 ui::signedPercentText(cell.high), ui::percentText(cell.coverage90),
                 ui::countText(static_cast<double>(cell.rows))),
        cell.coverage90 < 0.85 ? ui::Tone::Warning : ui::Tone::Normal, true};
}

}  // namespace

TransferTab::TransferTab(ReferenceShelf* shelf, QWidget* parent)
    : QWidget(parent), shelf_(shelf), work_(new Background(this)) {
    state_ = addStateLine(this, buildForm(), "transfer.state");
    auto* column = static_cast<QVBoxLayout*>(layout());
    table_ = new ui::CellsTable(QStringLiteral("transfer.table"), tr("Fitted on a line, judged on a column"),
                                tr("Mean error of a method fitted on the device of the row and judged on the device of "
                                   "the column. Orange: the coverage of the 90 % interval is below 85 %"),
                                this);
    table_->setEmptyText(tr("Press Judge all pairs. The mean error of each pair is shown here."));
    column->addWidget(table_, 1);
    connect(work_, &Background::advanced, this, &TransferTab::showState);
    connect(work_, &Background::ended, this, &TransferTab::showState);
    connect(shelf_, &ReferenceShelf::changed, this, &TransferTab::outdate);
    connect(where_, &QLineEdit::textEdited, this, &TransferTab::outdate);
    for (QComboBox* box : {method_, by_, fit_}) connect(box, &QComboBox::activated, this, &TransferTab::outdate);
    showResult();
    showState();
}

QWidget* TransferTab::buildForm() {
    auto* form = new QWidget(this);
    auto* row = new ui::FlowLayout(ui::Theme::instance().unit(), form);
    where_ = named(new QLineEdit(form), "transfer.where", tr("Which rows"),
                   tr("Conditions that must all hold: platform=GPU|TPU, kind=gemm, dtype=bf16"));
    where_->setPlaceholderText(tr("Rows: all that are loaded"));
    method_ = namedChoice(form, "transfer.method", tr("Method"),
                          tr("The method that is fitted on one device and judged on another"));
    // The plain one first; what takes its time for a kernel is left to the command line.
    if (const Method* plain = findMethod("roofline")) method_->addItem(ui::qs(plain->card.title), ui::qs("roofline"));
    for (const KernelMethod& method : kernelMethods()) {
        const Method* whole = findMethod(method.id);
        if (whole && whole->card.id != "roofline" && isJudgedUnnamed(whole->card))
            method_->addItem(ui::qs(whole->card.title), ui::qs(method.id));
    }
    by_ = namedChoice(form, "transfer.by", tr("Lines and columns"), tr("Device by device, or platform by platform"));
    by_->addItem(tr("By platform"), static_cast<int>(TransferGroups::Platform));
    by_->addItem(tr("By device"), static_cast<int>(TransferGroups::Device));
    fit_ = namedChoice(form, "transfer.fit", tr("What is learned"),
                       tr("One factor per kind of kernel on the predictions without a calibration; or the method's own "
                          "fit, which only methods for GPUs have"));
    fit_->addItem(tr("Factors per kind"), static_cast<int>(TransferFit::Factors));
    fit_->addItem(tr("The method's own fit"), static_cast<int>(TransferFit::Own));
    run_ = named(new QPushButton(tr("Judge all pairs"), form), "transfer.run", tr("Judge all pairs"),
                 tr("Fits on one half of each device's kernels and judges on the other half"));
    export_ = named(new QPushButton(tr("Export …"), form), "transfer.export", tr("Export"),
                    tr("One line per pair as CSV or LaTeX, everything as JSON, the table as a picture"));
    method_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    row->addWidget(where_);
    row->addWidget(method_);
    row->addWidget(by_);
    row->addWidget(fit_);
    row->addWidget(run_);
    row->addWidget(export_);
    connect(run_, &QPushButton::clicked, this, [this] { work_->isRunning() ? work_->cancel() : judge(); });
    connect(where_, &QLineEdit::returnPressed, this, &TransferTab::judge);
    connect(export_, &QPushButton::clicked, this, &TransferTab::chooseFile);
    return form;
}

void TransferTab::judge() {
    const auto filter = parseFilter(where_->text().toStdString());
    if (!filter) return refuse(filter.error());
    refused_ = false;
    state_->setTone(ui::Tone::Muted);
    state_->setToolTip({});
    TransferOptions options;
    options.by = static_cast<TransferGroups>(by_->currentData().toInt());
    options.fit = static_cast<TransferFit>(fit_->currentData().toInt());
    const std::string id = method_->currentData().toString().toStdString();
    work_->ask(
        [options, filter = *filter, id, tables = shelf_->tables()](std::stop_token stop,
                                                                   Progress& progress) mutable -> Expected<Transfer> {
            const auto executor = makeDefaultExecutor();
            options.executor = executor.get();
            options.stop = stop;
            options.progress = &progress;
            const auto rows = selectRows(*tables, filter);
            return measureTransfer(Contestant{id, *findMethod(id), {}}, *tables, rows, options, always);
        },
        [this](Expected<Transfer> answer) {
            if (!answer) return refuse(answer.error());
            result_ = std::move(*answer);
            showResult();
        });
}

void TransferTab::refuse(const Diagnostic& why) {
    result_.reset();
    refused_ = true;
    showResult();
    sayRefusal(*state_, why);
}

void TransferTab::outdate() {
    if (!result_ || work_->isRunning()) return showState();
    table_->setEnabled(false);
    state_->setTone(ui::Tone::Warning);
    state_->setFullText(tr("These figures are for an earlier question. Press Judge all pairs to update them."));
}

void TransferTab::showState() {
    const bool running = work_->isRunning();
    run_->setText(running ? tr("Stop") : tr("Judge all pairs"));
    if (running) {
        state_->setTone(ui::Tone::Muted);
        state_->setFullText(tr("Judging all pairs: %1").arg(ui::percentText(work_->fraction())));
    } else if (!result_ && !refused_) {
        state_->setFullText(
            tr("How large is the error of a method fitted on one device and judged on another? Rows: fitted on. "
               "Columns: judged on. Shipped calibrations are not used."));
    }
}

void TransferTab::showResult() {
    export_->setEnabled(result_.has_value());
    table_->setEnabled(true);
    if (!result_) return table_->setCells({}, {});
    QStringList heads{tr("Fitted on"), tr("Rows")};
    for (const TransferGroup& group : result_->groups)
        heads << tr("%1 (%2)").arg(ui::qs(group.name), ui::countText(static_cast<double>(group.judged)));
    std::vector<std::vector<ui::Cell>> cells;
    const auto line = [&](const QString& name, std::size_t rows, const std::vector<TransferCell>& judged) {
        std::vector<ui::Cell> made{{name, 0, {}, ui::Tone::Normal, false},
                                   {ui::countText(static_cast<double>(rows)), static_cast<double>(rows)}};
        for (std::size_t b = 0; b < judged.size(); ++b)
            made.push_back(cellOf(judged[b], tr("%1 → %2").arg(name, ui::qs(result_->groups[b].name))));
        cells.push_back(std::move(made));
    };
    line(tr("nothing"), 0, result_->untouched);
    std::size_t few = 0;
    for (std::size_t a = 0; a < result_->groups.size(); ++a) {
        if (result_->groups[a].fitted < leastFitted) {
            ++few;
            continue;
        }
        line(ui::qs(result_->groups[a].name), result_->groups[a].fitted, result_->cells[a]);
    }
    table_->setCells(std::move(heads), std::move(cells));
    state_->setTone(ui::Tone::Muted);
    state_->setFullText(
        tr("Mean errors of %1. In parentheses: number of judged rows. %2")
            .arg(ui::qs(methodTitle(result_->method)),
                 few == 0 ? QString() : tr("Too few rows for a fit in %n place(s).", nullptr, static_cast<int>(few))));
}

QString TransferTab::exportTo(const QString& file) const {
    if (!result_) return tr("Nothing has been judged yet.");
    if (QFileInfo(file).suffix().compare(QLatin1String("json"), Qt::CaseInsensitive) == 0)
        return ui::writeText(file, QByteArray::fromStdString(transferJson(*result_)));
    return writeShown(file, {{}, table_, [this] { return transferCsv(*result_); }, {}});
}

void TransferTab::chooseFile() {
    askAndSave(
        this,
        {tr("Export"),
         "transfer.export.dialog",
         {tr("CSV (*.csv)"), tr("TEX table (*.tex)"), tr("JSON (*.json)"), tr("SVG of this table (*.svg)"),
          tr("PDF of this table (*.pdf)"), tr("PNG of this table (*.png)")}},
        [this](const QString& file) { return exportTo(file); }, *state_);
}

}  // namespace orrery::app
