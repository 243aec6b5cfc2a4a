#include "widgets/inspector/component_form.h"

#include "hardware/attributes.h"
#include "hardware/walk.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/glyphs.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/common/value_edit.h"
#include "widgets/inspector/attribute_row.h"
#include "widgets/inspector/attribute_values.h"
#include "widgets/inspector/topology_section.h"
#include "widgets/messages/problem_list.h"

#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr int wideFrom = 400;  // times the scale of the type

/// A mesh as setAttribute() reads it.
QString enginesMesh(QString text) {
    return text.replace(QChar(0xD7), QStringLiteral(" x "));
}

std::string_view shapeOf(const Component& topology) {
    const Attribute* shape = topology.find("shape");
    const auto* text = shape ? std::get_if<std::string>(&shape->value) : nullptr;
    return text ? std::string_view(*text) : std::string_view();
}

}  // namespace

ComponentForm::ComponentForm(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
}

std::vector<const Component*> ComponentForm::components() const {
    std::vector<const Component*> found;
    for (const ComponentPath& path : paths_)
        if (const Component* component = hardware_ ? componentAt(hardware_->root, path) : nullptr)
            found.push_back(component);
    return found;
}

bool ComponentForm::sameMesh() const {
    const auto all = components();
    return std::all_of(all.begin(), all.end(), [&](const Component* one) { return one->mesh == all.front()->mesh; });
}

/// Rows stand while this does: what is selected, and which rows it needs.
QString ComponentForm::signature() const {
    QString text;
    for (const ComponentPath& path : paths_) {
        for (const int step : path) text += QLatin1Char('/') + QString::number(step);
        text += QLatin1Char(';');
    }
    std::set<std::string> keys;
    for (const Component* component : components()) {
        text += QString::number(static_cast<int>(component->kind)) + QLatin1Char(',');
        for (const AttributeSpec& spec : attributeSpecs()) {
            if (spec.form != AttributeForm::Table || !spec.on(component->kind)) continue;
            const Attribute* table = component->find(spec.name);
            const auto* rows = table ? std::get_if<std::vector<TableRow>>(&table->value) : nullptr;
            if (!rows) continue;
            for (const TableRow& row : *rows) keys.insert(std::string(spec.name) + '.' + row.key);
        }
    }
    for (const std::string& key : keys) text += QLatin1Char('|') + qs(key);
    if (sameMesh()) text += QStringLiteral("#%1").arg(current().mesh.size());
    return text;
}

void ComponentForm::show(HardwarePtr hardware, ComponentPaths paths, DeviceViewPtr device) {
    if (!hardware) return;
    std::erase_if(paths, [&](const ComponentPath& path) { return !componentAt(hardware->root, path); });
    if (paths.empty()) return;
    // What is typed may ask for another form, as the sides of a mesh do: the focus stays in the field of that name.
    const QWidget* focus = page_ && paths == paths_ ? window()->focusWidget() : nullptr;
    const QString typedInto = focus && page_->isAncestorOf(focus) ? focus->objectName() : QString();
    const QWidget* before = page_;
    hardware_ = std::move(hardware);
    paths_ = std::move(paths);
    device_ = std::move(device);
    if (const QString wanted = signature(); wanted != built_) {
        built_ = wanted;
        building_ = true;
        build();
        building_ = false;
    }
    fill();
    if (auto* again = page_ != before && !typedInto.isEmpty() ? page_->findChild<QWidget*>(typedInto) : nullptr)
        again->setFocus(Qt::OtherFocusReason);
    typeInto(added_);
    showDevice();
    showProblems();
}

/// What was just added begins with a value that nobody means: the next keys are its number.
void ComponentForm::typeInto(const QString& id) {
    const auto row = rows_.find(id);
    if (id.isEmpty() || row == rows_.end()) return;
    added_.clear();
    // Once the menu has given the focus back.
    QTimer::singleShot(0, row->second, [edit = row->second->edit()] {
        edit->setFocus(Qt::OtherFocusReason);
        edit->selectAll();
    });
}

void ComponentForm::setPreset(HardwarePtr preset) {
    preset_ = std::move(preset);
    if (page_ && hardware_ && !components().empty()) fill();
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
    connectRow(row, spec.id);
    return row;
}

void ComponentForm::connectRow(AttributeRow* row, const QString& id) {
    // A page that is being replaced gives up the focus and so commits what was typed: that edit belongs to the
    // components of that page, and must wait until the new page stands.
    connect(row, &AttributeRow::edited, this, [this, paths = paths_, id](const QString& text, EditPhase phase) {
        if (!building_ && paths == paths_) return send(id, text, phase);
        QMetaObject::invokeMethod(
            this, [=, this] { emit edited(paths, id, text, phase); }, Qt::QueuedConnection);
    });
    connect(row, &AttributeRow::turnRequested, this, [this, id] {
        if (paths_.size() == 1) emit turnRequested(paths_.front(), id);
    });
    connect(row, &AttributeRow::removed, this, [this, paths = paths_, id] {
        if (!building_) return emit removed(paths, id);
        QMetaObject::invokeMethod(
            this, [=, this] { emit removed(paths, id); }, Qt::QueuedConnection);
    });
    connect(row, &AttributeRow::restored, this, [this, id] { putBack(id); });
}

void ComponentForm::send(const QString& id, const QString& text, EditPhase phase) {
    if (phase == EditPhase::Begin && paths_.size() > 1) {
        before_.clear();
        const Dimension dimension = rows_.at(id)->spec().dimension;
        for (const ComponentPath& path : paths_) {
            const QString was = rowValue(*hardware_, *componentAt(hardware_->root, path), id, dimension).text;
            const auto same = std::ranges::find(before_, was, &std::pair<QString, ComponentPaths>::first);
            if (same == before_.end())
                before_.push_back({was, {path}});
            else
                same->second.push_back(path);
        }
    }
    if (id == QLatin1String("mesh") || id == QLatin1String("count"))
        return emit edited(paths_, id, enginesMesh(text), phase);
    if (!id.startsWith(QLatin1String("mesh."))) return emit edited(paths_, id, text, phase);
    // One side of a mesh is edited as the whole mesh.
    std::vector<std::int64_t> mesh = current().mesh;
    const auto side = id.section(QLatin1Char('.'), 1).toUInt();
    const auto measure = parseMeasure(text.toStdString(), Dimension::Count);
    if (side >= mesh.size() || !measure) return;
    mesh[side] = static_cast<std::int64_t>(measure->si);
    emit edited(paths_, QStringLiteral("mesh"), enginesMesh(meshText(mesh)), phase);
}

/// As before the drag: every value to those that had it, in the drag's own entry of the history.
void ComponentForm::putBack(const QString& id) {
    const auto before = std::exchange(before_, {});
    for (std::size_t i = 0; i < before.size(); ++i)
        emit edited(before[i].second, id, before[i].first, i + 1 < before.size() ? EditPhase::Drag : EditPhase::Commit);
}

void ComponentForm::build() {
    rows_.clear();
    kept_.clear();
    topology_ = nullptr;
    page_ = new QWidget;
    page_->setObjectName(QStringLiteral("inspector.page"));
    column_ = new QVBoxLayout(page_);
    column_->setContentsMargins(12, 8, 12, 12);
    column_->setSpacing(4);
    buildHead();
    buildIdentity();
    buildAttributes();
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
    if (paths_.size() == 1 && current().kind == ComponentKind::Topology) {
        topology_ = new TopologySection(page_);
        column_->addWidget(topology_);
        connect(topology_, &TopologySection::addRequested, this, &ComponentForm::addRequested);
        connect(topology_, &TopologySection::removeRequested, this, &ComponentForm::removeRequested);
        connect(topology_, &TopologySection::moveRequested, this, &ComponentForm::moveRequested);
        connect(topology_, &TopologySection::selectRequested, this, &ComponentForm::selectRequested);
    }
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

void ComponentForm::fill() {
    fillTitle();
    const std::vector<const Component*> all = components();
    for (auto& [id, row] : rows_) {
        if (row->spec().chooser) {
            ComponentPath above = paths_.back();
            above.pop_back();
            if (const Component* parent = componentAt(hardware_->root, above))
                row->setChoices(endChoices(*parent), tr("outside"));
        }
        std::vector<RowValue> values;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Component* preset = preset_ ? componentAt(preset_->root, paths_[i]) : nullptr;
            // Once components were moved or added, the same path may lead to another one.
            if (preset && (preset->kind != all[i]->kind || preset->name != all[i]->name)) preset = nullptr;
            values.push_back(rowValue(*hardware_, *all[i], id, row->spec().dimension, preset_.get(), preset));
        }
        row->show(mergedValue(values));
    }
    if (topology_) topology_->show(hardware_, paths_.back());
    showRows();
}

void ComponentForm::fillTitle() {
    const std::vector<const Component*> all = components();
    if (all.size() == 1) {
        const Component& component = *all.front();
        title_->setFullText(qs(nameOf(component)));
        const std::int64_t instances = component.instances();
        subtitle_->setFullText(
            instances > 1
                ? tr("%1 · ×%2").arg(qs(orrery::label(component.kind)), countText(static_cast<double>(instances)))
                : qs(orrery::label(component.kind)));
        return;
    }
    title_->setFullText(tr("%n components", nullptr, static_cast<int>(all.size())));
    std::map<ComponentKind, int> counts;
    for (const Component* component : all) ++counts[component->kind];
    QStringList kinds;
    for (const auto& [kind, count] : counts)
        kinds << QStringLiteral("%1 %2").arg(QString::number(count), qs(orrery::label(kind)));
    subtitle_->setFullText(counts.size() > 1
                               ? tr("%1 – common attributes are shown").arg(kinds.join(QStringLiteral(", ")))
                               : kinds.join(QString()));
}

/// Rows without value, default or preset wait behind a button; one that loses its value under the mouse stays.
void ComponentForm::showRows() {
    int waiting = 0;
    const bool shaped = current().kind == ComponentKind::Topology && paths_.size() == 1;
    const bool stacked = shaped && std::ranges::any_of(partsIn(current()), [](const Component& child) {
                             return child.kind == ComponentKind::Topology;
                         });
    for (auto& [id, row] : rows_) {
        const RowSpec& spec = row->spec();
        const std::string name = id.toStdString();
        // What the shape does not read is out of place, unless the file says it all the same.
        const bool unused =
            shaped && (stacked ? name == "shape" || isShapeAttribute(name) : !shapeUses(shapeOf(current()), name));
        if (unused && !row->isGiven()) {
            row->setVisible(false);
            continue;
        }
        // "One of it" is no news until somebody says otherwise.
        const bool news = spec.fallback && (spec.dimension != Dimension::Count || *spec.fallback != 1);
        const bool asked =
            !spec.example.isEmpty() || isLinkEnd(name) || name == "shape" || (shaped && isShapeAttribute(name));
        if (!spec.attribute || row->isGiven() || news || asked) kept_.insert(id);
        if (!kept_.contains(id)) ++waiting;
        row->setVisible(all_ || kept_.contains(id));
    }
    more_->setVisible(waiting > 0);
    const QString text = all_ ? tr("Hide what is not given") : tr("%n more attribute(s)", nullptr, waiting);
    more_->setText(text);
    more_->setAccessibleName(text);
    more_->setToolTip(tr("Attributes of this kind of component that have no value yet"));
}

void ComponentForm::editAttribute(const QString& id) {
    if (!page_) return;
    QWidget* field = nullptr;
    if (const auto found = rows_.find(id); found != rows_.end()) {
        kept_.insert(id);
        showRows();
        AttributeRow* row = found->second;
        if (row->edit()) row->edit()->selectAll();
        field = row->edit() ? static_cast<QWidget*>(row->edit()) : row->choice();
    } else {
        field =
            page_->findChild<QToolButton*>(QStringLiteral("inspector.%1.add").arg(id.section(QLatin1Char('.'), 0, 0)));
    }
    if (!field) return;
    page_->layout()->activate();
    ensureWidgetVisible(field);
    field->setFocus(Qt::OtherFocusReason);
}

void ComponentForm::showDevice() {
    std::vector<Fact> facts;
    const Component* shown = paths_.size() == 1 ? &current() : nullptr;
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
    std::set<std::string> places;
    for (const ComponentPath& path : paths_)
        if (componentAt(hardware_->root, path)) places.insert(pathText(hardware_->root, path));
    Diagnostics mine;
    for (const Diagnostic& problem : problems_)
        if (places.contains(problem.place.path.substr(0, problem.place.path.rfind('.'))) ||
            places.contains(problem.place.path))
            mine.push_back(problem);
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
    const int most = static_cast<int>(128 * Theme::instance().scale());
    for (auto& [id, row] : rows_) row->setWide(wide, wide ? most : std::clamp(width * 36 / 100, 72, most));
}

}  // namespace orrery::ui
