#include "app/window/evidence/versions_tab.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "app/window/state_line.h"
#include "base/text/latex_table.h"
#include "evaluation/drift/drift_export.h"
#include "hardware/files/catalogue.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/evidence/drift_plot.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

namespace orrery::app {

VersionsTab::VersionsTab(ReferenceShelf* shelf, QWidget* parent)
    : QWidget(parent), shelf_(shelf), work_(new Background(this)) {
    state_ = addStateLine(this, buildForm(), "versions.state");
    auto* column = static_cast<QVBoxLayout*>(layout());
    auto* split = named(new QSplitter(Qt::Vertical, this), "versions.split", tr("Errors and families"),
                        tr("Drag the border to give one part more room"));
    split->setChildrenCollapsible(false);
    plot_ = new ui::DriftPlot;
    auto* scroll =
        named(new QScrollArea(split), "versions.scroll", tr("Errors by family"), tr("One line for each family"));
    scroll->setWidget(plot_);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    families_ = new ui::CellsTable(QStringLiteral("versions.families"), tr("Families"),
                                   tr("One device, software, kind and variant each"), split);
    split->addWidget(scroll);
    split->addWidget(families_);
    split->setSizes({300, 200});
    column->addWidget(split, 1);
    connect(plot_, &ui::DriftPlot::chosen, families_, &ui::CellsTable::setCurrentRow);
    connect(families_, &ui::CellsTable::rowChosen, plot_, &ui::DriftPlot::setCurrent);
    connect(work_, &Background::advanced, this, &VersionsTab::showState);
    connect(work_, &Background::ended, this, &VersionsTab::showState);
    connect(shelf_, &ReferenceShelf::changed, this, [this] {
        if (!example_->isChecked()) outdate();
    });
    connect(where_, &QLineEdit::textEdited, this, &VersionsTab::outdate);
    connect(method_, &QComboBox::activated, this, &VersionsTab::outdate);
    connect(rows_, &QSpinBox::valueChanged, this, &VersionsTab::outdate);
    showResult();
    showState();
}

QWidget* VersionsTab::buildForm() {
    auto* form = new QWidget(this);
    auto* row = new ui::FlowLayout(ui::Theme::instance().unit(), form);
    where_ = named(new QLineEdit(form), "versions.where", tr("Which rows"),
                   tr("Conditions that must all hold: device=h100-sxm, kind=gemm, dtype=bf16"));
    where_->setPlaceholderText(tr("Rows: all that are loaded"));
    method_ = namedChoice(form, "versions.method", tr("What is trusted"),
                          tr("The older measurements, or a method's predictions for the same kernels"));
    method_->addItem(tr("Trust older measurements"), QString());
    for (const KernelMethod& method : kernelMethods()) {
        if (const Method* whole = findMethod(method.id)) method_->addItem(ui::qs(whole->card.title), ui::qs(method.id));
    }
    rows_ = namedNumber(form, "versions.rows", tr("Rows to repair with"),
                        tr("This many kernels of the later version repair the numbers; the others judge the result"), 1,
                        static_cast<int>(mostRepairRows));
    rows_->setValue(16);
    rows_->setPrefix(tr("Repair with "));
    rows_->setSuffix(tr(" rows"));
    auto* add = named(new QPushButton(tr("Add tables …"), form), "versions.add", tr("Add tables"),
                      tr("Measured kernels of an older and of a newer version of the same software"));
    example_ = named(new QPushButton(tr("Example"), form), "versions.example", tr("Compare the example"),
                     tr("Uses kernels of two versions of SGLang on H100, measured by aiconfigurator, instead of the "
                        "open references; these do not change"));
    example_->setCheckable(true);
    run_ = named(new QPushButton(tr("Compare"), form), "versions.run", tr("Compare versions"),
                 tr("Compare the oldest version of every family with the newest"));
    export_ = named(new QPushButton(tr("Export …"), form), "versions.export", tr("Export"),
                    tr("The picture as SVG, PDF or PNG; the families as CSV or JSON"));
    method_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    row->addWidget(where_);
    row->addWidget(method_);
    row->addWidget(rows_);
    row->addWidget(add);
    row->addWidget(example_);
    row->addWidget(run_);
    row->addWidget(export_);
    connect(add, &QPushButton::clicked, this, &VersionsTab::addTables);
    connect(run_, &QPushButton::clicked, this, [this] { work_->isRunning() ? work_->cancel() : compare(); });
    connect(where_, &QLineEdit::returnPressed, this, &VersionsTab::compare);
    connect(export_, &QPushButton::clicked, this, &VersionsTab::chooseFile);
    connect(example_, &QPushButton::clicked, this, &VersionsTab::chooseExample);
    return form;
}

void VersionsTab::refuse(const Diagnostic& why) {
    result_.reset();
    refused_ = true;
    showResult();
    sayRefusal(*state_, why);
}

void VersionsTab::chooseExample(bool wanted) {
    if (wanted) return compare();
    if (work_->isRunning()) work_->cancel();
    if (result_) outdate();
}

void VersionsTab::compare() {
    const auto filter = parseFilter(where_->text().toStdString());
    if (!filter) return refuse(filter.error());
    DriftOptions options;
    options.repairRows = static_cast<std::size_t>(rows_->value());
    std::optional<Contestant> method;
    if (const auto id = method_->currentData().toString().toStdString(); !id.empty())
        method = Contestant{id, *findMethod(id), {}};
    state_->setTone(ui::Tone::Muted);
    refused_ = false;
    work_->ask(
        [options, method, filter = *filter, tables = example_->isChecked() ? nullptr : shelf_->tables()](
            std::stop_token stop, Progress& progress) mutable -> Expected<Drift> {
            const auto executor = makeDefaultExecutor();
            options.executor = executor.get();
            options.stop = stop;
            if (!tables) {
                auto read = readReferences(std::vector<std::string>{presetsFolder() + "/versions"}, {});
                if (!read) return tl::unexpected(std::move(read.error()));
                tables = std::make_shared<const std::vector<ReferenceTable>>(std::move(*read));
            }
            std::vector<ReferenceTable> chosen;
            for (const ReferenceTable& table : *tables) {
                if (!table.models.empty()) continue;
                chosen.push_back(table);
                std::erase_if(chosen.back().rows, [&](const ReferenceRow& row) { return !filter.accepts(table, row); });
            }
            auto families = laterRows(chosen);
            Diagnostics warnings;
            if (method && !families.empty()) {
                EvaluateOptions asking;
                asking.executor = executor.get();
                asking.stop = stop;
                auto believed = believedBy(*method, std::move(families), asking, warnings);
                if (!believed) return tl::unexpected(std::move(believed.error()));
                families = std::move(*believed);
            }
            options.progress = &progress;
            auto drift = measureDrift(families, options);
            if (!drift) return drift;
            if (method) drift->believed = method->method.card.title;
            drift->warnings = std::move(warnings);
            return drift;
        },
        [this](Expected<Drift> drift) {
            if (!drift) return refuse(drift.error());
            result_ = std::move(*drift);
            showResult();
        });
}

void VersionsTab::outdate() {
    if (!result_ || work_->isRunning()) return showState();
    plot_->setEnabled(false);
    families_->setEnabled(false);
    state_->setTone(ui::Tone::Warning);
    state_->setFullText(tr("This answers an earlier question. Press Compare to update it."));
}

void VersionsTab::showState() {
    const bool running = work_->isRunning();
    run_->setText(running ? tr("Stop") : tr("Compare"));
    if (running) {
        state_->setTone(ui::Tone::Muted);
        state_->setFullText(tr("Comparing families: %1").arg(ui::percentText(work_->fraction())));
    } else if (!result_ && !refused_) {
        state_->setFullText(tr(
            "How much do predictions drift when the software is updated? Load tables of two versions. This shows which "
            "numbers are still valid, how soon a change is noticed, and how much a few new measurements repair."));
    }
}

void VersionsTab::showResult() {
    export_->setEnabled(result_.has_value());
    plot_->setEnabled(true);
    families_->setEnabled(true);
    std::vector<ui::DriftMarks> marks;
    std::vector<std::vector<ui::Cell>> cells;
    const auto word = [](const std::string& text) { return ui::Cell{ui::qs(text), 0, {}, ui::Tone::Normal, false}; };
    const auto share = [](double value) {
        return value < 0 ? ui::Cell{QStringLiteral("–"), -1} : ui::Cell{ui::percentText(value), value};
    };
    std::size_t moved = 0;
    for (const FamilyDrift& f : result_ ? result_->families : std::vector<FamilyDrift>()) {
        moved += f.moved() ? 1 : 0;
        const DriftFigures& g = f.figures;
        const QString label = ui::qs(toText(f.family));
        marks.push_back({label,
                         tr("%1, %2 → %3: %4 kernels. Untouched %5, one factor %6, repaired %7")
                             .arg(label, ui::qs(f.from), ui::qs(f.to), ui::countText(static_cast<double>(f.kernels)),
                                  ui::percentText(g.untouched), ui::percentText(g.factor), ui::percentText(g.repaired)),
                         g.untouched, g.factor, g.repaired, f.moved()});
        cells.push_back({word(f.family.device),
                         word(f.family.software),
                         word(f.family.kind),
                         word(f.family.variant),
                         word(f.from + " → " + f.to),
                         {ui::countText(static_cast<double>(f.kernels)), static_cast<double>(f.kernels)},
                         {QString::number(f.ratioMedian, 'f', 3), f.ratioMedian},
                         share(f.movedShare),
                         f.noticedAfter > 0
                             ? ui::Cell{tr("%n row(s)", nullptr, static_cast<int>(f.noticedAfter)), f.noticedAfter}
                             : ui::Cell{QStringLiteral("–"), 1e9, tr("Not noticed within 32 rows")},
                         share(g.untouched),
                         share(g.factor),
                         share(g.repaired),
                         share(g.repairedInside),
                         share(g.staleInside)});
    }
    plot_->setRows(std::move(marks));
    families_->setCells({tr("Device"), tr("Software"), tr("Kind"), tr("Variant"), tr("Versions"), tr("Kernels"),
                         tr("Ratio"), tr("Moved"), tr("Seen after"), tr("Untouched"), tr("One factor"), tr("Repaired"),
                         tr("Inside"), tr("Stale inside")},
                        std::move(cells));
    if (!result_) return;
    state_->setTone(ui::Tone::Muted);
    state_->setToolTip({});
    state_->setFullText(tr("Families compared: %1. Moved by more than 10 % in the median kernel: %2. Predicted by: %3.")
                            .arg(result_->families.size())
                            .arg(moved)
                            .arg(ui::qs(result_->believed)));
}

QString VersionsTab::exportTo(const QString& file) const {
    if (!result_) return tr("Nothing has been compared yet.");
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("csv")) return ui::writeText(file, QByteArray::fromStdString(driftCsv(*result_)));
    if (ending == QLatin1String("tex"))
        return ui::writeText(file, QByteArray::fromStdString(latexTable(driftCsv(*result_))));
    if (ending == QLatin1String("json")) return ui::writeText(file, QByteArray::fromStdString(driftJson(*result_)));
    return ui::writePicture(file, {900, plot_->sizeHint().height()}, tr("Errors on a later version"),
                            [this](QPainter& painter, const QRect& area) { plot_->paintPicture(painter, area); });
}

void VersionsTab::addTables() {
    auto* dialog = new QFileDialog(this, tr("Add tables"));
    dialog->setObjectName(QStringLiteral("versions.dialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    dialog->setNameFilters({tr("References (*.yaml %1 *.parquet)").arg(packedToo({"csv"})), tr("All files (*)")});
    connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList& files) { shelf_->open(files); });
    dialog->open();
}

void VersionsTab::chooseFile() {
    askAndSave(
        this,
        {tr("Export"),
         "versions.export.dialog",
         {tr("SVG (*.svg)"), tr("PDF (*.pdf)"), tr("PNG (*.png)"), tr("CSV (*.csv)"), tr("TEX table (*.tex)"),
          tr("JSON (*.json)")}},
        [this](const QString& file) { return exportTo(file); }, *state_);
}

}  // namespace orrery::app
