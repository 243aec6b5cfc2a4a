#include "widgets/mapping/systolic_animation.h"

#include "widgets/common/flow_layout.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/units_text.h"
#include "widgets/mapping/systolic_picture.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QKeyEvent>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedLayout>

#include <algorithm>
#include <limits>

namespace orrery::ui {

namespace {

constexpr int sliderSteps = 100'000;
constexpr int largestSide = 512;  ///< elements along a side that can still be told apart
constexpr int stretches = 512;    ///< of the run, in the strip

struct Speed {
    const char* name;
    int milliseconds;
    int ticks;  ///< the whole run takes at most so many; 0: always one cycle per tick
};
constexpr Speed speeds[] = {{QT_TRANSLATE_NOOP("orrery::ui::SystolicAnimation", "Slow"), 900, 0},
                            {QT_TRANSLATE_NOOP("orrery::ui::SystolicAnimation", "Steady"), 160, 0},
                            {QT_TRANSLATE_NOOP("orrery::ui::SystolicAnimation", "Fast"), 33, 0},
                            {QT_TRANSLATE_NOOP("orrery::ui::SystolicAnimation", "Whole run"), 33, 600}};

}  // namespace

SystolicAnimation::SystolicAnimation(QWidget* parent)
    : QWidget(parent),
      pages_(new QStackedLayout(this)),
      empty_(new EmptyPage(tr("Array animation"), {})),
      picture_(new SystolicPicture),
      strip_(new UtilizationStrip),
      slider_(new QSlider(Qt::Horizontal)),
      where_(new Label({}, FontRole::Small)),
      element_(new Label({}, FontRole::Small, Tone::Muted)) {
    setObjectName(QStringLiteral("mapping.systolic"));
    setAccessibleName(tr("Systolic array"));
    setToolTip(tr("Space runs and pauses, Left and Right step, Page Up and Down change the fold"));
    setFocusPolicy(Qt::StrongFocus);
    empty_->setObjectName(QStringLiteral("mapping.systolic.empty"));

    slider_->setObjectName(QStringLiteral("mapping.systolic.cycle"));
    slider_->setAccessibleName(tr("Cycle"));
    slider_->setToolTip(tr("Drag to any cycle of the run"));
    slider_->setRange(0, sliderSteps);
    connect(slider_, &QSlider::valueChanged, this, [this](int value) {
        if (cycles() == 0) return;
        const std::int64_t last = cycles() - 1;
        setCycle(last <= sliderSteps ? value
                                     : static_cast<std::int64_t>(static_cast<double>(last) * value / sliderSteps));
    });
    where_->setObjectName(QStringLiteral("mapping.systolic.where"));
    element_->setObjectName(QStringLiteral("mapping.systolic.element"));
    element_->setElided(true);
    connect(strip_, &UtilizationStrip::cycleChosen, this, &SystolicAnimation::setCycle);
    connect(picture_, &SystolicPicture::currentChanged, this, &SystolicAnimation::showElement);
    connect(&timer_, &QTimer::timeout, this, &SystolicAnimation::tick);

    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(controls());
    column->addWidget(picture_, 1);
    column->addWidget(element_);
    column->addWidget(strip_);
    column->addWidget(slider_);
    pages_->addWidget(empty_);
    pages_->addWidget(page);
    clear(tr("Choose a matrix product or convolution on a systolic array to see it cycle by cycle."));
}

QWidget* SystolicAnimation::controls() {
    auto* bar = new QWidget;
    auto* row = new FlowLayout(4, bar);
    row->setContentsMargins(4, 4, 4, 0);
    const auto button = [&](const QString& icon, const QString& name, const char* object, auto act) {
        auto* made = new IconButton(icon, name, QStringLiteral("mapping.systolic.") + QLatin1String(object));
        connect(made, &IconButton::clicked, this, act);
        row->addWidget(made);
        return made;
    };
    button(QStringLiteral("media-skip-backward"), tr("To the first cycle"), "first", [this] { setCycle(0); });
    button(QStringLiteral("media-seek-backward"), tr("One cycle back"), "back", [this] { step(-1); });
    runButton_ = button(QStringLiteral("media-playback-start"), tr("Run (Space)"), "run", [this] { run(); });
    pauseButton_ = button(QStringLiteral("media-playback-pause"), tr("Pause (Space)"), "pause", [this] { pause(); });
    button(QStringLiteral("media-seek-forward"), tr("One cycle on"), "forward", [this] { step(1); });
    button(QStringLiteral("media-skip-forward"), tr("To the last cycle"), "last",
           [this] { setCycle(std::numeric_limits<std::int64_t>::max()); });

    const auto box = [&](const char* object, const QString& name, const QString& tip) {
        auto* made = new QComboBox;
        made->setObjectName(QStringLiteral("mapping.systolic.") + QLatin1String(object));
        made->setAccessibleName(name);
        made->setToolTip(tip);
        row->addWidget(made);
        return made;
    };
    speed_ = box("speed", tr("Speed"), tr("How fast a run is shown"));
    for (const Speed& speed : speeds) speed_->addItem(tr(speed.name));
    speed_->setCurrentIndex(1);
    connect(speed_, &QComboBox::currentIndexChanged, this, [this] { applySpeed(); });
    dataflow_ = box("dataflow", tr("Dataflow"), tr("What stays in the elements; all three compute the same product"));
    dataflow_->addItem(tr("Weight stationary"));
    dataflow_->addItem(tr("Output stationary"));
    dataflow_->addItem(tr("Input stationary"));
    connect(dataflow_, &QComboBox::currentIndexChanged, this, [this](int index) {
        array_.dataflow = static_cast<Dataflow>(index);
        showPlan();
    });
    row->addWidget(where_);
    return bar;
}

void SystolicAnimation::setProduct(int rows, int columns, Dataflow dataflow, std::int64_t m, std::int64_t n,
                                   std::int64_t k) {
    if (dataflow == Dataflow::RowStationary)
        return clear(tr("A row-stationary array keeps rows of a filter: choose a convolution to see it at work."));
    if (rows > largestSide || columns > largestSide) {
        return clear(
            tr("An array of %1 × %2 elements is too large to be drawn element by element.").arg(rows).arg(columns));
    }
    array_ = {};
    array_.rows = rows;
    array_.cols = columns;
    array_.dataflow = dataflow;
    layer_ = systolic::gemmLayer("product", m, n, k);
    const QSignalBlocker quiet(dataflow_);
    dataflow_->setCurrentIndex(static_cast<int>(dataflow));
    dataflow_->show();
    showPlan();
}

void SystolicAnimation::setConvolution(int rows, int columns, const systolic::Layer& layer) {
    if (rows > largestSide || columns > largestSide)
        return clear(
            tr("An array of %1 × %2 elements is too large to be drawn element by element.").arg(rows).arg(columns));
    auto plan = systolic::planRows(rows, columns, layer);
    if (!plan) return clear(QString::fromStdString(plan.error().message));
    dataflow_->hide();
    plan_.reset();
    rowPlan_ = std::move(*plan);
    picture_->setLegend(systolic::activities(*rowPlan_));
    strip_->show(systolic::utilizationOverTime(*rowPlan_, stretches), cycles());
    begin();
}

std::int64_t SystolicAnimation::cycles() const {
    return plan_ ? plan_->cycles() : rowPlan_ ? rowPlan_->cycles() : 0;
}

std::int64_t SystolicAnimation::passCycles() const {
    return plan_ ? plan_->foldCycles : rowPlan_ ? rowPlan_->passCycles : 1;
}

void SystolicAnimation::showPlan() {
    auto plan = systolic::planFolds(array_, layer_);
    if (!plan) return clear(QString::fromStdString(plan.error().message));
    rowPlan_.reset();
    plan_ = *plan;
    picture_->setLegend(systolic::activities(*plan_));
    strip_->show(systolic::utilizationOverTime(*plan_, stretches), cycles());
    begin();
}

void SystolicAnimation::begin() {
    pause();
    cycle_ = 0;
    slider_->setRange(0, static_cast<int>(std::min<std::int64_t>(cycles() - 1, sliderSteps)));
    slider_->setPageStep(static_cast<int>(std::clamp<std::int64_t>(passCycles(), 1, sliderSteps)));
    pages_->setCurrentIndex(1);
    applySpeed();
    showCycle();
}

void SystolicAnimation::clear(const QString& why) {
    timer_.stop();
    plan_.reset();
    rowPlan_.reset();
    cycle_ = 0;
    empty_->setTexts(tr("Array animation"), why);
    setAccessibleDescription(why);
    pages_->setCurrentIndex(0);
}

void SystolicAnimation::setCycle(std::int64_t cycle) {
    if (cycles() == 0) return;
    cycle = std::clamp<std::int64_t>(cycle, 0, cycles() - 1);
    if (cycle == cycle_) return;
    cycle_ = cycle;
    if (cycle_ == cycles() - 1) pause();
    showCycle();
    emit cycleChanged(cycle_);
}

void SystolicAnimation::showCycle() {
    if (plan_) {
        systolic::SystolicSnapshot shot = systolic::snapshot(*plan_, cycle_);
        const ArrayEdges edges = edgesOf(*plan_, shot);
        picture_->show(std::move(shot), edges);
    } else {
        picture_->show(systolic::snapshot(*rowPlan_, cycle_), {});  // sums leave at the top, rows are there already
    }
    strip_->setCycle(cycle_);
    const std::int64_t last = cycles() - 1;
    {
        const QSignalBlocker quiet(slider_);
        slider_->setValue(last <= sliderSteps ? static_cast<int>(cycle_)
                                              : static_cast<int>(static_cast<double>(cycle_) * sliderSteps /
                                                                 static_cast<double>(last)));
    }
    const auto& shot = picture_->shot();
    const QString words =
        (plan_ ? tr("Cycle %1 of %2 · fold %3 of %4 · %5 % at work")
               : tr("Cycle %1 of %2 · pass %3 of %4 · %5 % at work · of one image, not of the mapping"))
            .arg(countText(static_cast<double>(cycle_ + 1)), countText(static_cast<double>(cycles())),
                 countText(static_cast<double>(shot.fold.index + 1)),
                 countText(static_cast<double>(plan_ ? plan_->folds() : rowPlan_->passes())),
                 QString::number(100 * shot.utilization(), 'f', 0));
    where_->setFullText(words);
    setAccessibleDescription(words);
    showElement();
}

void SystolicAnimation::showElement() {
    const auto element = picture_->current();
    element_->setFullText(element && cycles() > 0 ? elementText(picture_->shot(), element->y(), element->x())
                                                  : QStringLiteral(" "));
}

void SystolicAnimation::step(int cycles) {
    pause();
    setCycle(cycle_ + cycles);
}

void SystolicAnimation::stepFold(int folds) {
    if (cycles() == 0) return;
    pause();
    const std::int64_t length = passCycles(), fold = cycle_ / length;
    // Back goes to the beginning of this fold first, as players do with songs.
    if (folds < 0 && cycle_ != fold * length) return setCycle(fold * length);
    setCycle((fold + folds) * length);
}

void SystolicAnimation::applySpeed() {
    const Speed& speed = speeds[std::clamp<int>(speed_->currentIndex(), 0, static_cast<int>(std::size(speeds)) - 1)];
    timer_.setInterval(speed.milliseconds);
    perTick_ = speed.ticks > 0 ? std::max<std::int64_t>(1, cycles() / speed.ticks) : 1;
}

void SystolicAnimation::tick() {
    setCycle(cycle_ + perTick_);
}

void SystolicAnimation::run() {
    if (cycles() == 0) return;
    if (cycle_ == cycles() - 1) setCycle(0);
    timer_.start();
}

void SystolicAnimation::pause() {
    timer_.stop();
}

void SystolicAnimation::toggle() {
    running() ? pause() : run();
}

void SystolicAnimation::hideEvent(QHideEvent* event) {
    pause();
    QWidget::hideEvent(event);
}

void SystolicAnimation::keyPressEvent(QKeyEvent* event) {
    if (cycles() == 0) return QWidget::keyPressEvent(event);
    if (event->modifiers() & Qt::ControlModifier) {
        const QPoint from = picture_->current().value_or(QPoint(0, 0));
        QPoint to = from;
        switch (event->key()) {
            case Qt::Key_Left:
                to.rx() -= 1;
                break;
            case Qt::Key_Right:
                to.rx() += 1;
                break;
            case Qt::Key_Up:
                to.ry() -= 1;
                break;
            case Qt::Key_Down:
                to.ry() += 1;
                break;
            default:
                return QWidget::keyPressEvent(event);
        }
        if (!picture_->current()) to = from;
        return picture_->setCurrent(QPoint(std::clamp<int>(to.x(), 0, static_cast<int>(picture_->shot().cols) - 1),
                                           std::clamp<int>(to.y(), 0, static_cast<int>(picture_->shot().rows) - 1)));
    }
    switch (event->key()) {
        case Qt::Key_Space:
            return toggle();
        case Qt::Key_Left:
            return step(-1);
        case Qt::Key_Right:
            return step(1);
        case Qt::Key_Home:
            return setCycle(0);
        case Qt::Key_End:
            return setCycle(cycles() - 1);
        case Qt::Key_PageUp:
            return stepFold(-1);
        case Qt::Key_PageDown:
            return stepFold(1);
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace orrery::ui
