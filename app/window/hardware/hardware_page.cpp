#include "app/window/hardware/hardware_page.h"

#include "app/window/actions.h"
#include "app/window/hardware/canvas_editor.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/design_bar.h"
#include "app/window/hardware/design_compare.h"
#include "app/window/studio.h"
#include "widgets/common/theme.h"
#include "widgets/comparison/difference_list.h"
#include "widgets/tree/component_tree.h"

#include <QScopedValueRollback>
#include <QSplitter>
#include <QVBoxLayout>

namespace orrery::app {

HardwarePage::HardwarePage(Studio& studio, QWidget* parent)
    : Page(parent), document_(studio.document), selection_(&studio.components) {
    setObjectName(QStringLiteral("hardwarePage"));
    setAccessibleName(tr("Hardware"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    bar_ = new DesignBar(document_, this);
    split_ = new QSplitter(Qt::Horizontal, this);
    split_->setObjectName(QStringLiteral("hardwareSplit"));
    tree_ = new ui::ComponentTreeView(split_);
    auto* middle = new QSplitter(Qt::Vertical, split_);
    middle->setObjectName(QStringLiteral("compareSplit"));
    canvases_ = new QSplitter(Qt::Horizontal, middle);
    canvases_->setObjectName(QStringLiteral("canvasSplit"));
    canvases_->setChildrenCollapsible(false);
    pane_ = new CanvasPane(QStringLiteral("canvas"), selection_, canvases_);
    differences_ = new ui::DifferenceList(middle);
    differences_->hide();
    canvases_->addWidget(pane_);
    middle->addWidget(canvases_);
    middle->addWidget(differences_);
    middle->setStretchFactor(0, 4);
    middle->setStretchFactor(1, 1);
    split_->addWidget(tree_);
    split_->addWidget(middle);
    split_->setStretchFactor(0, 0);
    split_->setStretchFactor(1, 1);
    split_->setSizes({ui::Theme::instance().unit() * 26, ui::Theme::instance().unit() * 90});
    split_->setCollapsible(1, false);
    column->addWidget(bar_);
    column->addWidget(split_, 1);

    editor_ = std::make_unique<DocumentCanvasEditor>(document_);
    canvas()->setEditor(editor_.get());
    tree_->setSelection(selection_);
    connect(&document_, &Document::hardwareChanged, this, [this] { follow(false); });
    connect(&document_, &Document::layoutChanged, this, [this] { follow(false); });
    connect(&document_, &Document::projectChanged, this, [this] { followSecond(false); });
    connect(&document_, &Document::replaced, this, [this] { compareWith(-1); });
    connect(&document_, &Document::problemsChanged, this, [this] {
        tree_->setProblems(document_.problems());
        canvas()->setProblems(document_.problems());
    });
    connect(pane_, &CanvasPane::focused, this, [this] {
        secondActive_ = false;
        emit activeCanvasChanged();
    });
    connect(bar_, &DesignBar::compareChosen, this, &HardwarePage::compareWith);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, [this] { followSecond(false); });
    follow(true);
}

HardwarePage::~HardwarePage() {
    canvas()->setEditor(nullptr);
    if (second_) second_->view()->setEditor(nullptr);
}

void HardwarePage::setActions(Actions& actions) {
    actions_ = &actions;
    bar_->setActions(actions);
    const auto find = [&](std::initializer_list<const char*> ids) {
        QList<QAction*> found;
        for (const char* id : ids) found << (*id == '-' ? nullptr : actions.find(QLatin1String(id)));
        return found;
    };
    pane_->setTools(
        find({"toolSelect", "toolLink", "toolPan", "toolMeasure", "-", "editGroup", "arrangeAuto", "-", "canvasTree"}),
        find({"canvasZoomOut", "canvasZoomIn", "canvasFit", "-", "canvasGrid", "canvasSnap", "canvasMap", "editFind"}));
}

ui::CanvasView* HardwarePage::canvas() const {
    return pane_->view();
}

ui::CanvasView* HardwarePage::activeCanvas() const {
    return secondActive_ && second_ && second_->isVisible() ? second_->view() : pane_->view();
}

QWidget* HardwarePage::canvasArea() const {
    return canvases_;
}

bool HardwarePage::isTreeShown() const {
    return tree_->isVisibleTo(split_);
}

void HardwarePage::setTreeShown(bool shown) {
    tree_->setVisible(shown);
}

void HardwarePage::follow(bool fit) {
    const HardwarePtr design = document_.hardware();
    const std::string name = design ? design->name : std::string();
    // Renaming a design is no reason to lose one's place.
    const bool other = name != shown_ && canvas()->scene().hardware() != design;
    shown_ = name;
    tree_->setHardware(design);
    pane_->setDesign(design, document_.placements(), fit || other);
}

int HardwarePage::compared() const {
    return bar_->compared();
}

void HardwarePage::makeSecond() {
    secondSelection_ = new ui::ComponentSelection(this);
    second_ = new CanvasPane(QStringLiteral("secondCanvas"), secondSelection_, canvases_);
    canvases_->addWidget(second_);
    secondEditor_ = std::make_unique<DocumentCanvasEditor>(document_, [this] { return compared(); });
    second_->view()->setEditor(secondEditor_.get());
    connect(second_, &CanvasPane::focused, this, [this] {
        secondActive_ = true;
        emit activeCanvasChanged();
    });
    connect(pane_->view(), &ui::CanvasView::viewChanged, this, [this] { link(pane_->view(), second_->view()); });
    connect(second_->view(), &ui::CanvasView::viewChanged, this, [this] { link(second_->view(), pane_->view()); });
    connect(selection_, &ui::ComponentSelection::changed, this, [this] { selectInBoth(false); });
    connect(secondSelection_, &ui::ComponentSelection::changed, this, [this] { selectInBoth(true); });
    connect(differences_, &ui::DifferenceList::differenceChosen, this,
            [this](const std::optional<ComponentPath>& before, const std::optional<ComponentPath>& after) {
                const QScopedValueRollback<bool> guard(linking_, true);
                selection_->select(after ? ComponentPaths{*after} : ComponentPaths{});
                secondSelection_->select(before ? ComponentPaths{*before} : ComponentPaths{});
                if (after) pane_->view()->ensureVisible(*after);
                if (before) second_->view()->ensureVisible(*before);
            });
    emit canvasMade(second_->view());
}

void HardwarePage::compareWith(int index) {
    const auto count = static_cast<int>(document_.state()->hardware.size());
    if (index >= count || index == document_.hardwareIndex()) index = -1;
    bar_->setCompared(index);
    if (index >= 0 && !second_) makeSecond();
    secondShown_.clear();
    if (second_) second_->setVisible(index >= 0);
    differences_->setVisible(index >= 0);
    if (index < 0) {
        secondActive_ = false;
        pane_->setTitle({});
        canvas()->setMarks({});
        emit activeCanvasChanged();
        return;
    }
    canvases_->setSizes({1000, 1000});
    followSecond(true);
    canvas()->fitAll();
}

void HardwarePage::followSecond(bool fit) {
    if (compared() < 0 || !second_) return;
    const ProjectState& state = *document_.state();
    const int index = compared();
    if (index >= static_cast<int>(state.hardware.size()) || index == document_.hardwareIndex() ||
        !document_.hardware()) {
        return compareWith(-1);
    }
    const HardwarePtr& design = state.hardware[static_cast<std::size_t>(index)];
    bar_->setCompared(index);
    second_->setDesign(design, state.placementsOf(index), fit || design->name != secondShown_);
    secondShown_ = design->name;
    pane_->setTitle(QString::fromStdString(document_.hardware()->name));
    second_->setTitle(QString::fromStdString(design->name));
    const HardwarePtr first = document_.hardware();
    // Old → new: the one that is worked on is the new one.
    differences_->setDesigns(design, first, QString::fromStdString(design->name), QString::fromStdString(first->name));
    const std::vector<Difference>& found = differences_->model()->differences();
    pane_->view()->setMarks(marksOf(*design, *first, found, false));
    second_->view()->setMarks(marksOf(*design, *first, found, true));
}

void HardwarePage::link(ui::CanvasView* moved, ui::CanvasView* other) {
    if (linking_ || compared() < 0) return;
    const QScopedValueRollback<bool> guard(linking_, true);
    other->setZoom(moved->zoom(), QPointF(other->rect().center()));
    other->centreOn(moved->visibleArea().center());
}

void HardwarePage::selectInBoth(bool fromSecond) {
    if (linking_ || compared() < 0 || !document_.hardware()) return;
    const QScopedValueRollback<bool> guard(linking_, true);
    const Component& first = document_.hardware()->root;
    const Component& second = document_.state()->hardware[static_cast<std::size_t>(compared())]->root;
    ComponentPaths found;
    for (const ComponentPath& path : fromSecond ? secondSelection_->paths() : selection_->paths()) {
        const auto same = fromSecond ? sameName(second, path, first) : sameName(first, path, second);
        if (same) found.push_back(*same);
    }
    (fromSecond ? selection_ : secondSelection_)->select(std::move(found));
}

}  // namespace orrery::app
