#include "widgets/panels/component_form.h"

#include "hardware/attributes.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/text.h"
#include "widgets/common/value_edit.h"
#include "widgets/panels/attribute_row.h"
#include "widgets/panels/glyphs.h"
#include "widgets/panels/problem_list.h"

#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {

constexpr int wideFrom = 400;  // times the scale of the type

QString meshText(const std::vector<std::int64_t>& mesh) {
    QStringList extents;
    for (const std::int64_t extent : mesh) extents << QString::number(extent);
    return extents.join(QStringLiteral("×"));
}

/// `14×12`, `14 x 12`, `14, 12`.
std::optional<Diagnostic> checkMesh(const QString& text) {
    static const QRegularExpression pattern(QStringLiteral(R"(^\s*[1-9]\d{0,6}(\s*[×xX,]\s*[1-9]\d{0,6})*\s*$)"));
    if (pattern.match(text).hasMatch()) return std::nullopt;
    return Diagnostic{Severity::Error,     "hardware.mesh",         "A mesh is whole numbers joined by ×",
                      "for example 14×12", "Type 14×12 or 14 x 12", {}};
}

std::optional<Diagnostic> checkName(const QString& text) {
    if (!text.contains(QLatin1Char('/')) && !text.contains(QLatin1Char('.'))) return std::nullopt;
    return Diagnostic{Severity::Error,
                      "hardware.name",
                      "A name cannot contain / or .",
                      "letters, digits, - and _",
                      "Slashes and dots separate names in paths",
                      {}};
}

std::optional<Diagnostic> checkCount(const QString& text) {
    const auto measure = parseMeasure(text.toStdString(), Dimension::Count);
    if (!measure) return measure.error();
    if (measure->si >= 1 && measure->si <= 1e9) return std::nullopt;
    return Diagnostic{Severity::Error,
                      "hardware.count",
                      "A count is at least 1",
                      "1 to 1,000,000,000",
                      "Delete the component if there is none of it",
                      {}};
}

RowValue valueOf(const Component& component, const Attribute& attribute, const Hardware& hardware,
                 Dimension dimension) {
    RowValue value;
    if (const auto* measure = std::get_if<Measure>(&attribute.value)) {
        value.measure = *measure;
        value.text = measureText(*measure, dimension);
    } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
        value.text = qs(*text);
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&attribute.value)) {
        QStringList words;
        for (const std::string& word : *list) words << qs(word);
        value.text = words.join(QStringLiteral(", "));
    }
    value.source = qs(sourceOf(component, attribute));
    value.note = qs(attribute.note);
    for (const Source& source : hardware.sources)
        if (qs(source.key) == value.source) value.sourceText = qs(source.text);
    return value;
}

const TableRow* tableRow(const Component& component, std::string_view attribute, std::string_view key) {
    const Attribute* table = component.find(attribute);
    const auto* rows = table ? std::get_if<std::vector<TableRow>>(&table->value) : nullptr;
    if (!rows) return nullptr;
    for (const TableRow& row : *rows)
        if (row.key == key) return &row;
    return nullptr;
}

RowSpec identityRow(const QString& id, const QString& label, const QString& meaning, AttributeForm form) {
    RowSpec row;
    row.id = id;
    row.label = label;
    row.meaning = meaning;
    row.form = form;
    row.clearable = false;
    return row;
}

}  // namespace

ComponentForm::ComponentForm(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
}

QString ComponentForm::signature(const Component& component) const {
    QString text = QString::number(static_cast<int>(component.kind));
    for (const int step : path_) text += QLatin1Char('/') + QString::number(step);
    for (const AttributeSpec& spec : attributeSpecs()) {
        if (!spec.on(component.kind) || spec.form != AttributeForm::Table) continue;
        const Attribute* table = component.find(spec.name);
        const auto* rows = table ? std::get_if<std::vector<TableRow>>(&table->value) : nullptr;
        if (!rows) continue;
        for (const TableRow& row : *rows) text += QLatin1Char('|') + qs(row.key);
    }
    return text;
}

void ComponentForm::show(HardwarePtr hardware, const ComponentPath& path, DeviceViewPtr device) {
    hardware_ = std::move(hardware);
    path_ = path;
    device_ = std::move(device);
    const Component* component = hardware_ ? componentAt(hardware_->root, path_) : nullptr;
    if (!component) return;
    if (const QString wanted = signature(*component); wanted != built_) {
        built_ = wanted;
        building_ = true;
        build(*component);
        building_ = false;
    }
    fill(*component);
    showDevice();
    showProblems();
}

void ComponentForm::setPreset(HardwarePtr preset) {
    preset_ = std::move(preset);
    if (const Component* component = hardware_ ? componentAt(hardware_->root, path_) : nullptr; component && page_)
        fill(*component);
}

void ComponentForm::setProblems(const Diagnostics& problems) {
    if (problems == problems_) return;
    problems_ = problems;
    showProblems();
}

AttributeRow* ComponentForm::addRow(const RowSpec& spec) {
    auto* row = new AttributeRow(spec, page_);
    column_->addWidget(row);
    rows_[spec.id] = row;
    // A page that is being replaced gives up the focus and so commits what was typed: that edit belongs to the
    // component of that page, and must wait until the new page stands.
    connect(row, &AttributeRow::edited, this, [this, path = path_, id = spec.id](const QString& text, EditPhase phase) {
        if (!building_) return emit edited(path, id, text, phase);
        QMetaObject::invokeMethod(
            this, [=, this] { emit edited(path, id, text, phase); }, Qt::QueuedConnection);
    });
    connect(row, &AttributeRow::removed, this, [this, path = path_, id = spec.id] {
        if (!building_) return emit removed(path, id);
        QMetaObject::invokeMethod(
            this, [=, this] { emit removed(path, id); }, Qt::QueuedConnection);
    });
    return row;
}

void ComponentForm::build(const Component& component) {
    rows_.clear();
    kept_.clear();
    page_ = new QWidget;
    page_->setObjectName(QStringLiteral("inspector.page"));
    column_ = new QVBoxLayout(page_);
    column_->setContentsMargins(12, 8, 12, 12);
    column_->setSpacing(4);

    auto* head = new QHBoxLayout;
    head->setSpacing(8);
    auto* picture = new QLabel(page_);
    const auto draw = [picture, kind = component.kind] { picture->setPixmap(glyph(kind).pixmap(24, 24)); };
    draw();
    connect(&Theme::instance(), &Theme::changed, picture, draw);
    head->addWidget(picture, 0, Qt::AlignVCenter);
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    title_ = new Label({}, FontRole::Title, Tone::Normal, page_);
    title_->setElided(true);
    title_->setBold(true);
    subtitle_ = new Label({}, FontRole::Small, Tone::Muted, page_);
    subtitle_->setElided(true);
    words->addWidget(title_);
    words->addWidget(subtitle_);
    head->addLayout(words, 1);
    column_->addLayout(head);

    column_->addWidget(new SectionHeader(tr("Component"), page_));
    addRow(identityRow(QStringLiteral("name"), tr("Name"), tr("What it is called in paths and plots."),
                       AttributeForm::Text))
        ->edit()
        ->setCheck(checkName);
    RowSpec count =
        identityRow(QStringLiteral("count"), tr("Count"), tr("Identical copies, drawn once."), AttributeForm::Measure);
    count.dimension = Dimension::Count;
    count.lowest = 1;
    count.highest = 1024;
    count.explorable = component.kind != ComponentKind::System;
    if (count.explorable) addRow(count)->edit()->setCheck(checkCount);
    if (component.kind == ComponentKind::Array || !component.mesh.empty()) {
        addRow(identityRow(QStringLiteral("mesh"), tr("Mesh"), tr("Copies in a grid, for example 14×12."),
                           AttributeForm::Text))
            ->edit()
            ->setCheck(checkMesh);
    }

    column_->addWidget(new SectionHeader(tr("Attributes"), page_));
    // What can be explored and has a value stands first: it is what people come for.
    const auto first = [&component](const AttributeSpec& spec) {
        return spec.explorable && component.find(spec.name) != nullptr;
    };
    for (const bool wanted : {true, false}) {
        for (const AttributeSpec& spec : attributeSpecs()) {
            if (!spec.on(component.kind) || first(spec) != wanted) continue;
            if (spec.form == AttributeForm::Table)
                addTable(spec, component);
            else
                addRow(RowSpec::of(spec));
        }
    }
    more_ = new QToolButton(page_);
    more_->setObjectName(QStringLiteral("inspector.more"));
    more_->setAutoRaise(true);
    more_->setStyleSheet(QStringLiteral("QToolButton { padding: 2px 0; border: none; }"));
    more_->setCheckable(true);
    more_->setChecked(all_);
    connect(more_, &QToolButton::toggled, this, [this](bool on) {
        all_ = on;
        showRows();
    });
    column_->addWidget(more_, 0, Qt::AlignLeft);
    deviceHeader_ = new SectionHeader(tr("As methods see the device"), page_);
    deviceFacts_ = new FactList(page_);
    problemsHeader_ = new SectionHeader(tr("Problems"), page_);
    problemList_ = new ProblemList(page_);
    for (QWidget* part : {static_cast<QWidget*>(deviceHeader_), static_cast<QWidget*>(deviceFacts_),
                          static_cast<QWidget*>(problemsHeader_), static_cast<QWidget*>(problemList_)})
        column_->addWidget(part);
    column_->addStretch(1);
    // The edit that led here may have come from a control of the page before: let its event finish.
    if (QWidget* before = takeWidget()) {
        before->hide();
        before->deleteLater();
    }
    setWidget(page_);
    arrange();
}

void ComponentForm::addTable(const AttributeSpec& spec, const Component& component) {
    const RowSpec whole = RowSpec::of(spec);
    auto* line = new QHBoxLayout;
    auto* label = new Label(whole.label, FontRole::Body, Tone::Muted, page_);
    label->setToolTip(whole.toolTip());
    line->addWidget(label, 1);
    auto* add = new QToolButton(page_);
    add->setObjectName(QStringLiteral("inspector.%1.add").arg(whole.id));
    add->setAccessibleName(tr("Add to %1").arg(whole.label));
    add->setToolTip(tr("Add a precision to %1").arg(whole.label));
    add->setText(QStringLiteral("+"));
    add->setAutoRaise(true);
    add->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(add);
    add->setMenu(menu);
    line->addWidget(add);
    column_->addLayout(line);

    QStringList present;
    QString first = QStringLiteral("1/cycle");
    const Attribute* table = component.find(spec.name);
    if (const auto* rows = table ? std::get_if<std::vector<TableRow>>(&table->value) : nullptr) {
        for (const TableRow& row : *rows) {
            RowSpec sub = whole;
            sub.form = AttributeForm::Measure;
            sub.label = QStringLiteral("   ") + qs(row.key);
            sub.id = whole.id + QLatin1Char('.') + qs(row.key);
            sub.fallback.reset();
            addRow(sub);
            if (present.isEmpty()) first = measureText(row.value, spec.dimension);
            present << qs(row.key);
        }
    }
    QStringList keys = whole.choices;
    if (keys.isEmpty())
        for (int type = 0; type < dtypeCount; ++type) keys << qs(toText(static_cast<DType>(type)));
    for (const QString& key : keys) {
        if (present.contains(key)) continue;
        menu->addAction(key, this, [this, id = whole.id, key, first] {
            emit edited(path_, id + QLatin1Char('.') + key, first, EditPhase::Commit);
        });
    }
}

void ComponentForm::fill(const Component& component) {
    const Component* preset = preset_ ? componentAt(preset_->root, path_) : nullptr;
    // Once components were moved or added, the same path may lead to another one.
    if (preset && (preset->kind != component.kind || preset->name != component.name)) preset = nullptr;
    title_->setFullText(qs(nameOf(component)));
    const std::int64_t instances = component.instances();
    subtitle_->setFullText(
        instances > 1 ? tr("%1 · ×%2").arg(qs(orrery::label(component.kind)), grouped(static_cast<double>(instances)))
                      : qs(orrery::label(component.kind)));
    for (auto& [id, row] : rows_) {
        RowValue value;
        const std::string name = id.section(QLatin1Char('.'), 0, 0).toStdString();
        if (id == QStringLiteral("name")) {
            value.text = qs(component.name);
        } else if (id == QStringLiteral("count")) {
            value.measure = Measure{static_cast<double>(component.count), false, {}};
            value.text = QString::number(component.count);
            if (preset) value.preset = QString::number(preset->count);
        } else if (id == QStringLiteral("mesh")) {
            value.text = meshText(component.mesh);
            if (preset) value.preset = meshText(preset->mesh);
        } else if (id.contains(QLatin1Char('.'))) {
            const std::string key = id.section(QLatin1Char('.'), 1).toStdString();
            if (const TableRow* cell = tableRow(component, name, key)) {
                value = valueOf(component, Attribute{name, cell->value, component.find(name)->source, {}}, *hardware_,
                                row->spec().dimension);
            }
            if (preset) {
                const TableRow* before = tableRow(*preset, name, key);
                value.preset = before ? measureText(before->value, row->spec().dimension) : QString();
            }
        } else {
            if (const Attribute* attribute = component.find(name))
                value = valueOf(component, *attribute, *hardware_, row->spec().dimension);
            if (preset) {
                const Attribute* before = preset->find(name);
                value.preset = before ? valueOf(*preset, *before, *preset_, row->spec().dimension).text : QString();
            }
        }
        row->show(value);
    }
    showRows();
}

/// Rows without value, default or preset wait behind a button; one that loses its value under the mouse stays.
void ComponentForm::showRows() {
    int waiting = 0;
    for (auto& [id, row] : rows_) {
        const RowSpec& spec = row->spec();
        if (!spec.attribute || row->isGiven() || spec.fallback) kept_.insert(id);
        if (!kept_.contains(id)) ++waiting;
        row->setVisible(all_ || kept_.contains(id));
    }
    more_->setVisible(waiting > 0);
    const QString text = all_ ? tr("Hide what is not given") : tr("%n more that may be given", nullptr, waiting);
    more_->setText(text);
    more_->setAccessibleName(text);
    more_->setToolTip(tr("Attributes of this kind of component without a value here"));
}

void ComponentForm::showDevice() {
    std::vector<Fact> facts;
    const Component* shown = componentAt(hardware_->root, path_);
    const bool computes = shown && (shown->kind <= ComponentKind::Mac);
    const bool remembers = shown && (shown->kind <= ComponentKind::Die || !computes);
    if (device_ && shown) {
        for (int unit = 1; computes && unit >= 0; --unit) {
            for (int type = 0; type < dtypeCount; ++type) {
                const auto peak = device_->peaks[static_cast<std::size_t>(unit)][static_cast<std::size_t>(type)];
                if (peak.value <= 0) continue;
                facts.push_back(
                    {tr("Peak %1, %2").arg(qs(toText(static_cast<DType>(type))), unit ? tr("tensor") : tr("vector")),
                     qs(format(peak)), fullText(peak.value, Dimension::OperationRate)});
            }
        }
        for (const MemoryLevel& level : device_->levels) {
            if (!remembers || (!computes && level.name != shown->name)) continue;
            facts.push_back({qs(level.name),
                             level.bandwidth.value > 0
                                 ? tr("%1 · %2").arg(qs(format(level.capacity)), qs(format(level.bandwidth)))
                                 : qs(format(level.capacity)),
                             tr("%1: %2 in all, %3")
                                 .arg(qs(level.path), fullText(level.capacity.value, Dimension::Data),
                                      fullText(level.bandwidth.value, Dimension::DataRate))});
        }
    }
    deviceHeader_->setVisible(!facts.empty());
    deviceFacts_->setVisible(!facts.empty());
    deviceFacts_->setFacts(std::move(facts));
}

void ComponentForm::showProblems() {
    if (!page_ || !hardware_) return;
    const std::string here = pathText(hardware_->root, path_);
    Diagnostics mine;
    for (const Diagnostic& problem : problems_) {
        const std::string& at = problem.place.path;
        if (at == here || (at.starts_with(here) && at.size() > here.size() && at[here.size()] == '.'))
            mine.push_back(problem);
    }
    problemsHeader_->setVisible(!mine.empty());
    problemList_->setVisible(!mine.empty());
    problemList_->setDiagnostics(mine);
}

void ComponentForm::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    arrange();
}

void ComponentForm::arrange() {
    const int width = viewport()->width();
    const bool wide = width >= wideFrom * Theme::instance().scale();
    for (auto& [id, row] : rows_) row->setWide(wide, wide ? 128 : std::clamp(width * 36 / 100, 72, 128));
}

}  // namespace orrery::ui
