#include "app/window/hardware/canvas_pane.h"

#include "hardware/walk.h"
#include "widgets/canvas/breadcrumbs.h"
#include "widgets/canvas/find_bar.h"
#include "widgets/canvas/minimap.h"
#include "widgets/common/component_text.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"

#include <QAction>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace orrery::app {

namespace {

constexpr int smallestForMap = 420;  ///< a narrower canvas has no room to spare

QToolBar* stripOf(Qt::Orientation direction, const QString& id, const QString& name, QWidget* parent) {
    auto* strip = new QToolBar(parent);
    strip->setObjectName(id);
    strip->setAccessibleName(name);
    strip->setOrientation(direction);
    strip->setIconSize({18, 18});
    strip->setMovable(false);
    return strip;
}

}  // namespace

CanvasPane::CanvasPane(const QString& id, ui::ComponentSelection* selection, QWidget* parent)
    : QWidget(parent), id_(id) {
    setObjectName(id + QStringLiteral(".pane"));
    view_ = new ui::CanvasView(selection, this);
    view_->setObjectName(id);
    view_->setAccessibleName(tr("Canvas of the design"));
    view_->setMinimumSize(160, 100);
    view_->setToolTip(tr("Arrow keys nudge, Space pans, the wheel zooms, Esc cancels; Ctrl+/ lists all keys"));
    crumbs_ = new ui::Breadcrumbs(view_, this);
    find_ = new ui::FindBar(view_, this);
    find_->hide();
    map_ = new ui::Minimap(view_, view_);
    title_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, this);
    title_->hide();
    empty_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, view_);
    empty_->setObjectName(id + QStringLiteral(".empty"));
    empty_->setAttribute(Qt::WA_TransparentForMouseEvents);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setTextFormat(Qt::RichText);
    empty_->setContextMenuPolicy(Qt::NoContextMenu);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, [this] {  // links have the colour of when they were read
        empty_->clear();
        showEmptyState();
    });
    empty_->setAccessibleName(tr("What to do with an empty canvas"));
    empty_->setToolTip(tr("Devices of the library, or an empty design to draw on"));
    connect(empty_, &QLabel::linkActivated, this, [this](const QString& what) {
        what == QLatin1String("device") ? emit deviceWanted() : emit designWanted();
    });
    tools_ = stripOf(Qt::Vertical, id + QStringLiteral(".tools"), tr("Tools"), this);
    looks_ = stripOf(Qt::Horizontal, id + QStringLiteral(".looks"), tr("Zoom and grid"), this);
    buildFoot();

    auto* head = new QHBoxLayout;
    const int unit = ui::Theme::instance().unit();
    head->setContentsMargins(unit, 0, unit, 0);
    head->addWidget(crumbs_, 1);
    head->addWidget(title_);
    auto* column = new QVBoxLayout;
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(head);
    column->addWidget(find_);
    column->addWidget(view_, 1);
    column->addWidget(foot_);
    column_ = column;
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(tools_);
    row->addLayout(column, 1);

    view_->installEventFilter(this);
    connect(view_, &ui::CanvasView::viewChanged, this, &CanvasPane::showZoom);
    connect(view_, &ui::CanvasView::hoverChanged, this, &CanvasPane::showHover);
    connect(view_, &ui::CanvasView::hintChanged, this, [this](const QString& hint) { hover_->setText(hint); });
    connect(view_, &ui::CanvasView::designChanged, this, &CanvasPane::showEmptyState);
    connect(view_, &ui::CanvasView::toolChanged, this, &CanvasPane::showEmptyState);
    showEmptyState();
    showZoom();
}

void CanvasPane::buildFoot() {
    foot_ = new QWidget(this);
    auto* row = new QHBoxLayout(foot_);
    const int unit = ui::Theme::instance().unit();
    row->setContentsMargins(unit, 0, unit, 0);
    row->setSpacing(unit);
    auto* hover = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, foot_);
    hover->setElided(true);
    hover_ = hover;
    busyText_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Accent, foot_);
    stop_ = new QToolButton(foot_);
    stop_->setObjectName(id_ + QStringLiteral(".stop"));
    stop_->setText(tr("Stop"));
    stop_->setAccessibleName(tr("Stop arranging"));
    stop_->setToolTip(tr("Leave the drawing as it is"));
    connect(stop_, &QToolButton::clicked, this, &CanvasPane::stopRequested);
    zoom_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, foot_);
    zoom_->setObjectName(id_ + QStringLiteral(".zoom"));
    zoom_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    zoom_->setMinimumWidth(zoom_->fontMetrics().horizontalAdvance(QStringLiteral("1000 %")));
    row->addWidget(hover_, 1);
    row->addWidget(busyText_);
    row->addWidget(stop_);
    row->addWidget(zoom_);
    row->addWidget(looks_);
    busyText_->hide();
    stop_->hide();
}

QToolButton* CanvasPane::addButton(QToolBar* bar, QAction* action) {
    bar->addAction(action);
    auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(action));
    if (!button) return nullptr;
    button->setObjectName(id_ + QLatin1Char('.') + action->objectName());
    button->setAccessibleName(action->text().remove(QLatin1Char('&')));
    button->setFocusPolicy(Qt::TabFocus);
    button->setAutoRaise(true);
    return button;
}

void CanvasPane::setTools(const QList<QAction*>& tools, const QList<QAction*>& looks) {
    for (QAction* action : tools) action ? void(addButton(tools_, action)) : void(tools_->addSeparator());
    for (QAction* action : looks) action ? void(addButton(looks_, action)) : void(looks_->addSeparator());
}

void CanvasPane::setDesign(HardwarePtr hardware, ui::PlacementsPtr placements, bool fit) {
    hardware_ = hardware;
    view_->setDesign(std::move(hardware), std::move(placements), fit);
    showEmptyState();
}

void CanvasPane::setTitle(const QString& title) {
    title_->setText(title);
    title_->setVisible(!title.isEmpty());
}

void CanvasPane::addStrip(QWidget* strip) {
    column_->insertWidget(column_->indexOf(foot_), strip);
}

void CanvasPane::openFind() {
    find_->open();
}

bool CanvasPane::isMapShown() const {
    return mapWanted_;
}

void CanvasPane::setMapShown(bool shown) {
    mapWanted_ = shown;
    placeOverlays();
}

void CanvasPane::setBusy(const QString& what) {
    busy_ = what;
    busyText_->setText(what);
    busyText_->setVisible(!what.isEmpty());
    stop_->setVisible(!what.isEmpty());
}

void CanvasPane::showEmptyState() {
    const bool empty = !hardware_ || partsIn(hardware_->root).empty();
    empty_->setText(hardware_ ? tr("<h3>An empty design</h3>Drag a package or a node here from the palette, "
                                   "or paste YAML (Ctrl+V).<br>The Insert menu adds parts by keyboard.")
                              : tr("<h3>No design yet</h3><a href='device'>Choose a device</a> in the library, or "
                                   "<a href='design'>draw your own</a>: Design ▸ New empty design."));
    empty_->setAttribute(Qt::WA_TransparentForMouseEvents, hardware_ != nullptr);  // one drops parts there
    empty_->setTextInteractionFlags(hardware_ ? Qt::TextInteractionFlags(Qt::NoTextInteraction)
                                              : Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    // What is being placed names the place that it goes to, in the middle of the sheet.
    empty_->setVisible(empty && view_->tool() != ui::CanvasView::Tool::Place);
    placeOverlays();
}

void CanvasPane::showZoom() {
    if (empty_->isVisibleTo(view_)) placeOverlays();
    zoom_->setText(tr("%1 %").arg(qRound(view_->zoom() * 100)));
    showMap();
}

void CanvasPane::showHover(const ComponentPath& path, bool hovering) {
    const Component* component = hovering && hardware_ ? componentAt(hardware_->root, path) : nullptr;
    if (!component) return hover_->setText({});
    const QString numbers = ui::keyNumbers(*component);
    const std::string_view kind = label(component->kind);
    QString text = QStringLiteral("%1  ·  %2")
                       .arg(QString::fromStdString(pathText(hardware_->root, path)),
                            QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())));
    if (component->instances() > 1) text += QStringLiteral("  ×%1").arg(component->instances());
    if (!numbers.isEmpty()) text += QStringLiteral("  ·  ") + numbers;
    hover_->setText(text);
}

void CanvasPane::placeOverlays() {
    const QRect area = view_->rect();
    const int unit = ui::Theme::instance().unit();
    const QSize map(22 * unit, 15 * unit);
    map_->setGeometry(area.right() - map.width() - unit, area.bottom() - map.height() - unit, map.width(),
                      map.height());
    showMap();
    if (!empty_->isVisibleTo(view_)) return;
    const int width = std::min(area.width() - 4 * unit, 48 * unit);
    const int height = std::max(empty_->heightForWidth(width), 10 * unit);
    // Below the empty box, if there is one.
    const double box = hardware_ ? view_->toView(view_->scene().bounds().bottomLeft()).y() + unit : 0;
    const int top = hardware_ ? std::clamp(static_cast<int>(box), 0, std::max(area.height() - height, 0))
                              : area.center().y() - height / 2;
    empty_->setGeometry(area.center().x() - width / 2, top, width, height);
}

void CanvasPane::showMap() {
    // It tells something only where part of the drawing is out of sight, and where it leaves room to draw.
    const bool beyond = !view_->visibleArea().adjusted(-1, -1, 1, 1).contains(view_->scene().bounds());
    map_->setVisible(mapWanted_ && beyond && !empty_->isVisibleTo(view_) && view_->width() >= smallestForMap &&
                     view_->height() > 2 * map_->height());
}

bool CanvasPane::eventFilter(QObject* watched, QEvent* event) {
    if (watched == view_) {
        if (event->type() == QEvent::Resize) placeOverlays();
        if (event->type() == QEvent::FocusIn) emit focused();
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace orrery::app
