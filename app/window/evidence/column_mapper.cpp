#include "app/window/evidence/column_mapper.h"

#include "app/window/evidence/mapping_form.h"
#include "app/window/form_parts.h"
#include "app/window/state_line.h"
#include "learning/calibration.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QListWidget>
#include <QPushButton>
#include <QSaveFile>
#include <QSplitter>

namespace orrery::app {

namespace {

constexpr std::size_t shownRows = 200;

/// Which keys and fields read this column.
QStringList readersOf(const ColumnMapping& mapping, const std::string& column) {
    QStringList readers;
    const auto look = [&](std::string_view key) {
        const auto value = mappedTo(mapping, key);
        if (value == '{' + column + '}') readers << ui::qs(key);
        if (value.empty() || value.front() == '{') return;
        const KernelField* field = findKernelField(key);
        if (key != "time" && key != "noise" && key != "only" && !(field && field->setNumber)) return;
        const auto parsed = Expression::parse(value);
        if (parsed && std::ranges::find(parsed->names(), column) != parsed->names().end()) readers << ui::qs(key);
    };
    for (const char* key : {"device", "time", "noise", "only"}) look(key);
    for (const auto& field : mapping.fields) look(field.first);
    return readers;
}

}  // namespace

ColumnMapper::ColumnMapper(ReferenceShelf* shelf, QWidget* parent) : QWidget(parent), shelf_(shelf) {
    const int unit = ui::Theme::instance().unit();
    setObjectName(QStringLiteral("references.mapper"));
    setAccessibleName(tr("Map the columns of a table"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit);
    auto* head = new QHBoxLayout;
    head->setSpacing(unit);
    file_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, this);
    file_->setElided(true);
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setObjectName(QStringLiteral("mapping.state"));
    state_->setElided(true);
    save_ = named(new QPushButton(tr("Save the mapping …"), this), "mapping.save", tr("Save the mapping"),
                  tr("As an import description (YAML), which opens tables of this form here and on the command line"));
    import_ = named(new QPushButton(tr("Import"), this), "mapping.import", tr("Import the table"),
                    tr("Reads the whole file by this mapping"));
    close_ = named(new QPushButton(tr("Leave"), this), "mapping.close", tr("Leave without importing"),
                   tr("Back to the tables; the file stays as it is"));
    head->addWidget(file_, 1);
    head->addWidget(state_, 2);
    head->addWidget(save_);
    head->addWidget(import_);
    head->addWidget(close_);
    column->addLayout(head);

    auto* split = named(new QSplitter(Qt::Horizontal, this), "mapping.split", tr("Mapping and tables"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    form_ = new MappingForm(split);
    auto* right = named(new QSplitter(Qt::Vertical, split), "mapping.tables", tr("File and kernels"),
                        tr("Drag the border to give one part more room"));
    right->setChildrenCollapsible(false);
    rows_ = new ui::CellsTable(
        QStringLiteral("mapping.rows"), tr("First rows of the file"),
        tr("The first rows of the file. Below each column name is the field that is read from it"), right);
    kernels_ = new ui::CellsTable(QStringLiteral("mapping.kernels"), tr("Kernels"),
                                  tr("The kernels of the first rows, with their lines"), right);
    problems_ = named(new QListWidget(right), "mapping.problems", tr("Rows that are not read, and why"),
                      tr("Click one to see its line in the file"));
    problems_->setFrameShape(QFrame::NoFrame);
    problems_->setWordWrap(true);
    right->addWidget(rows_);
    right->addWidget(kernels_);
    right->addWidget(problems_);
    right->setStretchFactor(0, 3);
    right->setStretchFactor(1, 3);
    right->setStretchFactor(2, 1);
    split->addWidget(form_);
    split->addWidget(right);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 5);
    split->setSizes({unit * 45, unit * 110});
    column->addWidget(split, 1);

    due_.setSingleShot(true);
    due_.setInterval(0);  // after the signal of the control that made it necessary
    connect(&due_, &QTimer::timeout, this, &ColumnMapper::tryNow);
    connect(form_, &MappingForm::changed, this, [this](const QString& key, const QString& value) {
        if (setMapped(mapping_, key.toStdString(), value.toStdString())) due_.start();
    });
    connect(
        form_, &MappingForm::wordMeant, this,
        [this](const QString& from, const QString& word, const QString& field, const QString& value) {
            const WordMeaning said{from.toStdString(), word.toStdString(), field.toStdString(), value.toStdString()};
            std::erase_if(mapping_.words, [&](const WordMeaning& w) {
                return w.column == said.column && w.word == said.word && w.field == said.field;
            });
            if (!value.isEmpty()) mapping_.words.push_back(said);
            due_.start();
        });
    connect(problems_, &QListWidget::itemClicked, this, [this](const QListWidgetItem* item) {
        const auto at = std::ranges::find(sample_.lines, item->data(Qt::UserRole).toInt());
        if (at != sample_.lines.end() && at - sample_.lines.begin() < static_cast<std::ptrdiff_t>(shownRows))
            rows_->setCurrentRow(static_cast<int>(at - sample_.lines.begin()));
    });
    connect(save_, &QPushButton::clicked, this, &ColumnMapper::chooseFile);
    connect(import_, &QPushButton::clicked, this, &ColumnMapper::import);
    connect(close_, &QPushButton::clicked, this, &ColumnMapper::done);
}

bool ColumnMapper::open(const QString& file) {
    auto sample = sampleTable(file.toStdString());
    if (!sample) {
        state_->setTone(ui::Tone::Bad);
        state_->setFullText(ui::windowText(toText(sample.error())));
        return false;
    }
    sample_ = std::move(*sample);
    mapping_ = guessMapping(sample_);
    mapping_.name = QFileInfo(file).fileName().section(QLatin1Char('.'), 0, 0).toStdString();
    mapping_.source = "";
    file_->setFullText(QFileInfo(file).fileName());
    file_->setToolTip(file);
    tryNow();
    return true;
}

void ColumnMapper::tryNow() {
    // Words that fields know themselves need no meaning; others are asked for, and all of that column then.
    const auto foreign = MappingForm::foreignWords(sample_, mapping_);
    std::erase_if(mapping_.words, [&](const WordMeaning& word) {
        return std::ranges::none_of(foreign,
                                    [&](const auto& f) { return f.first == word.column && f.second == word.field; });
    });
    for (const auto& [from, name] : foreign) {
        const KernelField* field = findKernelField(name);
        for (const auto& word : wordsOf(sample_, from)) {
            KernelDraft scratch;
            const bool said = std::ranges::any_of(mapping_.words, [&, &f = from, &n = name](const WordMeaning& w) {
                return w.column == f && w.word == word && w.field == n;
            });
            if (!said && field->setWord(scratch, word)) mapping_.words.push_back({from, word, name, word});
        }
    }
    std::vector<Diagnostic> wrong;
    for (const auto key : mappingKeys())
        if (auto each = checkMapped(mapping_, key, sample_)) wrong.push_back(std::move(*each));
    for (const auto& field : mapping_.fields)
        if (auto each = checkMapped(mapping_, field.first, sample_)) wrong.push_back(std::move(*each));
    preview_.reset();
    description_.reset();
    if (wrong.empty()) {
        auto described = describe(mapping_);
        if (described) {
            auto tried = tryMapping(sample_, *described);
            description_ = std::make_shared<const ImportDescription>(std::move(*described));
            if (tried) {
                preview_ = std::move(*tried);
            } else {
                wrong.push_back(std::move(tried.error()));
            }
        } else {
            wrong.push_back(std::move(described.error()));
        }
    }
    form_->show(sample_, mapping_);
    showSample();
    showPreview(wrong);
}

void ColumnMapper::showSample() {
    QStringList heads{tr("Line")};
    for (const auto& name : sample_.columns) {
        const QStringList readers = readersOf(mapping_, name);
        heads << ui::qs(name) + QLatin1Char('\n') +
                     (readers.isEmpty() ? QStringLiteral("–")
                                        : QStringLiteral("→ ") + readers.join(QStringLiteral(", ")));
    }
    std::vector<std::vector<ui::Cell>> cells;
    for (std::size_t i = 0; i < std::min(shownRows, sample_.rows.size()); ++i) {
        std::vector<ui::Cell> row{
            {QString::number(sample_.lines[i]), static_cast<double>(sample_.lines[i]), {}, ui::Tone::Muted, true}};
        for (std::size_t c = 0; c < sample_.columns.size(); ++c) {
            const QString text = c < sample_.rows[i].size() ? ui::qs(sample_.rows[i][c].substr(0, 80)) : QString();
            bool number = false;
            const double value = text.toDouble(&number);
            row.push_back({text, number ? value : 0, text, ui::Tone::Normal, number});
        }
        cells.push_back(std::move(row));
    }
    rows_->setCells(std::move(heads), std::move(cells));
}

void ColumnMapper::showPreview(const std::vector<Diagnostic>& wrong) {
    std::vector<std::vector<ui::Cell>> cells;
    if (preview_) {
        for (std::size_t i = 0; i < std::min(shownRows, preview_->rows.size()); ++i) {
            const ReferenceRow& row = preview_->rows[i];
            const ReferenceDevice& device = preview_->devices[static_cast<std::size_t>(row.device)];
            const bool known = !device.catalogue.empty();
            cells.push_back(
                {{QString::number(row.line), static_cast<double>(row.line), {}, ui::Tone::Muted, true},
                 {ui::qs(toText(row.kernel)), 0, {}, ui::Tone::Normal, false},
                 {ui::qs(kernelVariant(row.kernel)), 0, {}, ui::Tone::Normal, false},
                 {ui::qs(known ? device.catalogue : device.name),
                  0,
                  {},
                  known ? ui::Tone::Normal : ui::Tone::Warning,
                  false},
                 {ui::text(Seconds(row.seconds)), row.seconds, ui::fullText(row.seconds, Dimension::Time),
                  ui::Tone::Normal, true},
                 {row.noise > 0 ? ui::percentText(row.noise) : QString(), row.noise, {}, ui::Tone::Normal, true}});
        }
    }
    kernels_->setCells({tr("Line"), tr("Kernel"), tr("Variant"), tr("Device"), tr("Time"), tr("Noise")},
                       std::move(cells));
    problems_->clear();
    const auto tell = [&](const Diagnostic& each, ui::Tone tone) {
        const QString line = each.place.line > 0 ? tr("line %1: ").arg(each.place.line) : QString();
        auto* item = new QListWidgetItem(line + ui::windowText(each.message), problems_);
        item->setData(Qt::UserRole, each.place.line);
        item->setForeground(ui::toneColour(tone));
        item->setToolTip(ui::qs(toText(each)));
    };
    for (const Diagnostic& each : wrong) tell(each, ui::Tone::Bad);
    if (preview_)
        for (const Diagnostic& each : preview_->warnings) tell(each, ui::Tone::Warning);
    const auto rows = static_cast<int>(sample_.rows.size());
    const auto sound = preview_ ? static_cast<int>(preview_->rows.size()) : 0;
    state_->setTone(sound > 0 ? ui::Tone::Muted : ui::Tone::Warning);
    state_->setFullText(sample_.whole ? tr("%1 of %2 rows become kernels").arg(sound).arg(rows)
                                      : tr("%1 of the first %2 rows become kernels").arg(sound).arg(rows));
    import_->setEnabled(sound > 0);
    save_->setEnabled(description_ != nullptr);
}

QString ColumnMapper::save(const QString& file) {
    QSaveFile out(file);
    const std::string name = QFileInfo(QString::fromStdString(sample_.path)).fileName().toStdString();
    std::string plain = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
    const std::vector<std::string> patterns{std::move(plain)};
    const std::string text = writeImport(mapping_, patterns);
    const bool written = out.open(QIODevice::WriteOnly) &&
                         out.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size()) &&
                         out.commit();
    return written ? QString() : tr("cannot write %1: %2").arg(file, out.errorString());
}

void ColumnMapper::chooseFile() {
    askAndSave(
        this, {tr("Save the mapping"), "mapping.dialog", {tr("Import descriptions (*.yaml)"), tr("All files (*)")}},
        [this](const QString& file) { return save(file); }, *state_);
}

void ColumnMapper::import() {
    shelf_->open({QString::fromStdString(sample_.path)}, {}, description_);
    emit done();
}

}  // namespace orrery::app
