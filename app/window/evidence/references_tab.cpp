#include "app/window/evidence/references_tab.h"

#include "app/window/evidence/column_mapper.h"
#include "app/window/evidence/measure_dialog.h"
#include "evaluation/repeatability.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/label.h"
#include "widgets/common/table_scale.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/wrapped_delegate.h"

#include <QFileDialog>
#include <QHeaderView>
#include <QListWidget>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

namespace orrery::app {

void ReferenceRowsModel::set(ReferenceTablesPtr tables, int table) {
    beginResetModel();
    tables_ = std::move(tables);
    table_ = table < 0 ? nullptr : &(*tables_)[static_cast<std::size_t>(table)];
    endResetModel();
}

int ReferenceRowsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !table_ ? 0 : static_cast<int>(table_->rows.size());
}

int ReferenceRowsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ReferenceRowsModel::data(const QModelIndex& index, int role) const {
    const ReferenceRow& row = table_->rows[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole) {
        const bool number = index.column() >= TimeColumn;
        return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole && index.column() == TimeColumn) return ui::fullText(row.seconds, Dimension::Time);
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case KernelColumn:
            return ui::qs(toText(row.kernel));
        case KindColumn:
            return ui::qs(toText(row.kernel.kind));
        case VariantColumn:
            return ui::qs(kernelVariant(row.kernel));
        case DeviceColumn: {
            const ReferenceDevice& device = table_->devices[static_cast<std::size_t>(row.device)];
            return ui::qs(device.catalogue.empty() ? device.name : device.catalogue);
        }
        case TimeColumn:
            return ui::text(Seconds(row.seconds));
        case NoiseColumn:
            return row.noise > 0 ? ui::percentText(row.noise) : QString();
        case LineColumn:
            return row.line;
        default:
            return {};
    }
}

QVariant ReferenceRowsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
        case KernelColumn:
            return tr("Kernel");
        case KindColumn:
            return tr("Kind");
        case VariantColumn:
            return tr("Variant");
        case DeviceColumn:
            return tr("Device");
        case TimeColumn:
            return tr("Time");
        case NoiseColumn:
            return tr("Noise");
        case LineColumn:
            return tr("Line");
        default:
            return {};
    }
}

ReferencesTab::ReferencesTab(ReferenceShelf* shelf, QWidget* parent) : QWidget(parent), shelf_(shelf) {
    const int unit = ui::Theme::instance().unit();
    auto* outside = new QVBoxLayout(this);
    outside->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    pages_ = new QStackedWidget(this);
    auto* tables = new QWidget(pages_);
    auto* column = new QVBoxLayout(tables);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit);
    mapper_ = new ColumnMapper(shelf, pages_);
    pages_->addWidget(tables);
    pages_->addWidget(mapper_);
    outside->addWidget(pages_);
    auto* head = new ui::FlowLayout(unit);
    open_ = new QPushButton(tr("Open references …"), this);
    open_->setObjectName(QStringLiteral("references.open"));
    open_->setAccessibleName(tr("Open references"));
    open_->setToolTip(tr("Tables of Orrery (YAML), or CSV files of a known form, plain or gzipped"));
    map_ = new QPushButton(tr("Map a table …"), this);
    map_->setObjectName(QStringLiteral("references.map"));
    map_->setAccessibleName(tr("Map the columns of a table"));
    map_->setToolTip(tr("Any CSV: say what its columns mean, and see the kernels at once"));
    measure_ = new QPushButton(tr("Measure this machine …"), this);
    measure_->setObjectName(QStringLiteral("references.measure"));
    measure_->setAccessibleName(tr("Measure this machine"));
    measure_->setToolTip(tr("Runs kernels on this computer's processor and adds their times as a table"));
    remove_ = new QPushButton(tr("Remove"), this);
    remove_->setObjectName(QStringLiteral("references.remove"));
    remove_->setAccessibleName(tr("Remove the table from this session"));
    remove_->setToolTip(tr("The file stays as it is"));
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setElided(true);
    state_->setMinimumWidth(25 * unit);
    head->addWidget(open_);
    head->addWidget(map_);
    head->addWidget(measure_);
    head->addWidget(remove_);
    head->addWidget(state_);
    column->addLayout(head);

    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setObjectName(QStringLiteral("references.split"));
    split->setAccessibleName(tr("Tables and rows"));
    split->setToolTip(tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    list_ = new QListWidget(split);
    list_->setObjectName(QStringLiteral("references.tables"));
    list_->setAccessibleName(tr("Tables of references"));
    list_->setToolTip(tr("Filled: measured. Hollow: simulated or summed"));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setWordWrap(true);  // laid out anew when its width changes
    list_->setItemDelegate(new ui::WrappedDelegate(list_));
    auto* right = new QWidget(split);
    auto* inside = new QVBoxLayout(right);
    inside->setContentsMargins(unit, 0, 0, 0);
    inside->setSpacing(unit);
    facts_ = new ui::FactList(right);
    left_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Warning, right);
    left_->setWordWrap(true);
    rows_ = new QTableView(right);
    rows_->setObjectName(QStringLiteral("references.rows"));
    rows_->setAccessibleName(tr("Rows of the table"));
    rows_->setToolTip(tr("Every measured kernel, with its line in the file"));
    rows_->setFrameShape(QFrame::NoFrame);
    rows_->setShowGrid(false);
    rows_->setTabKeyNavigation(false);
    rows_->setSelectionBehavior(QAbstractItemView::SelectRows);
    rows_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    rows_->verticalHeader()->hide();
    rows_->verticalHeader()->setDefaultSectionSize(ui::scaled(unit * 3));
    rows_->horizontalHeader()->setHighlightSections(false);
    rows_->horizontalHeader()->setStretchLastSection(true);
    model_ = new ReferenceRowsModel(this);
    rows_->setModel(model_);
    const int widths[] = {290, 120, 130, 120, 100, 70, 70};
    for (int i = 0; i < ReferenceRowsModel::ColumnCount; ++i) rows_->setColumnWidth(i, ui::scaled(widths[i]));
    ui::growWithType(rows_);
    inside->addWidget(facts_);
    inside->addWidget(left_);
    inside->addWidget(rows_, 1);
    split->addWidget(list_);
    split->addWidget(right);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 3);
    column->addWidget(split, 1);

    connect(shelf_, &ReferenceShelf::changed, this, &ReferencesTab::showTables);
    connect(shelf_, &ReferenceShelf::readingChanged, this,
            [this](bool reading) { state_->setFullText(reading ? tr("Reading …") : QString()); });
    connect(shelf_, &ReferenceShelf::refused, this, [this](const Diagnostic& why) {
        state_->setTone(ui::Tone::Bad);
        state_->setFullText(ui::windowText(toText(why)));
    });
    connect(list_, &QListWidget::currentRowChanged, this, &ReferencesTab::showTable);
    connect(shelf_, &ReferenceShelf::unknown, this, &ReferencesTab::mapColumns);
    connect(mapper_, &ColumnMapper::done, this, [this] { pages_->setCurrentIndex(0); });
    connect(open_, &QPushButton::clicked, this, [this] { chooseFiles(false); });
    connect(map_, &QPushButton::clicked, this, [this] { chooseFiles(true); });
    connect(measure_, &QPushButton::clicked, this, [this] {
        auto* dialog = new MeasureDialog(this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(dialog, &MeasureDialog::measured, shelf_, [this](const QString& table) { shelf_->open({table}); });
        dialog->open();
    });
    connect(remove_, &QPushButton::clicked, this, [this] {
        if (list_->currentRow() >= 0) shelf_->remove(list_->currentRow());
    });
    showTables();
}

void ReferencesTab::showTables() {
    // What was just added is looked at first.
    const int tables = static_cast<int>(shelf_->tables()->size());
    const bool added = list_->count() > 0 && tables > list_->count();
    const int before = added ? tables - 1 : std::max(list_->currentRow(), 0);
    list_->clear();
    for (const ReferenceTable& table : *shelf_->tables()) {
        const bool measured = table.kind == ReferenceKind::Measured;
        auto* item = new QListWidgetItem((measured ? QStringLiteral("● ") : QStringLiteral("○ ")) + ui::qs(table.name) +
                                         QLatin1Char('\n') + summaryOf(table));
        item->setToolTip(ui::qs(table.file));
        list_->addItem(item);
    }
    list_->setCurrentRow(std::min(before, list_->count() - 1));
    showTable(list_->currentRow());
}

void ReferencesTab::showTable(int at) {
    const bool any = at >= 0 && static_cast<std::size_t>(at) < shelf_->tables()->size();
    remove_->setEnabled(any);
    facts_->setVisible(any);
    left_->setVisible(false);
    if (!any) return model_->set(shelf_->tables(), -1);
    const ReferenceTable& table = (*shelf_->tables())[static_cast<std::size_t>(at)];
    std::vector<ui::Fact> facts;
    const auto fact = [&](const QString& label, const std::string& value) {
        if (!value.empty()) facts.push_back({label, ui::qs(value), ui::qs(value), ui::Tone::Normal});
    };
    fact(tr("Source"), table.source);
    fact(tr("Software"), table.software);
    fact(tr("Licence"), table.licence);
    fact(tr("Retrieved"), table.retrieved);
    fact(tr("Kind of truth"), std::string(toText(table.kind)));
    if (const Repeatability known = repeatabilityOf(table); known.rows > 0) {
        fact(tr("Repeats differ by"),
             tr("%1 (mean) and %2 (90th percentile) over %3 rows. No method can be expected to do better")
                 .arg(ui::percentText(known.mean), ui::percentText(known.p90),
                      ui::countText(static_cast<double>(known.rows)))
                 .toStdString());
    }
    fact(tr("File"), table.file);
    fact(tr("Hash of the rows"), table.hash);
    facts_->setFacts(std::move(facts));
    QStringList warnings;
    for (const Diagnostic& warned : table.warnings) warnings << ui::windowText(warned.message);
    left_->setFullText(warnings.mid(0, 4).join(QLatin1Char('\n')));
    left_->setToolTip(warnings.join(QLatin1Char('\n')));
    left_->setVisible(!warnings.isEmpty());
    model_->set(shelf_->tables(), at);
}

void ReferencesTab::mapColumns(const QString& file) {
    const auto sample = sampleTable(file.toStdString(), 1);
    if (sample && mapper_->open(file)) return pages_->setCurrentIndex(1);
    if (sample) return;
    state_->setTone(ui::Tone::Bad);
    state_->setFullText(ui::windowText(toText(sample.error())));
}

void ReferencesTab::chooseFiles(bool toMap) {
    auto* dialog = new QFileDialog(this, toMap ? tr("Map a table") : tr("Open references"));
    dialog->setObjectName(QStringLiteral("references.dialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(toMap ? QFileDialog::ExistingFile : QFileDialog::ExistingFiles);
    dialog->setNameFilters({toMap ? tr("Tables (%1 *.parquet)").arg(packedToo({"csv", "tsv", "txt"}))
                                  : tr("References (*.yaml %1 *.parquet)").arg(packedToo({"csv"})),
                            tr("All files (*)")});
    connect(dialog, &QFileDialog::filesSelected, this, [this, toMap](const QStringList& files) {
        state_->setTone(ui::Tone::Muted);
        if (toMap) return mapColumns(files.front());
        shelf_->open(files);
    });
    dialog->open();
}

}  // namespace orrery::app
