#include "widgets/mapping/systolic_animation.h"

#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/mapping/systolic_picture.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QKeyEvent>
#include <QLocale>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedLayout>

#include <algorithm>
#include <limits>

namespace orrery::ui {

namespace {

constexpr int sliderSteps = 100'000;
constexpr int largestSide = 512;  ///< elements along a side that can still be told apart

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
        if (!plan_) return;
        const std::int64_t last = plan_->cycles() - 1;
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
    clear(tr("Choose a matrix product or convolution of a systolic array to see how it runs through the elements."));
}

QWidget* SystolicAnimation::controls() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(4, 4, 4, 0);
    row->setSpacing(4);
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
    row->addWidget(where_, 1);
    return bar;
}

void SystolicAnimation::setProduct(int rows, int columns, Dataflow dataflow, std::int64_t m, std::int64_t n,
                                   std::int64_t k) {
    if (dataflow == Dataflow::RowStationary)
        return clear(tr("A row-stationary array does not run in wavefronts: there is nothing to animate."));
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
    showPlan();
}

void SystolicAnimation::showPlan() {
    auto plan = systolic::planFolds(array_, layer_);
    if (!plan) return clear(QString::fromStdString(plan.error().message));
    pause();
    plan_ = *plan;
    cycle_ = 0;
    slider_->setRange(0, static_cast<int>(std::min<std::int64_t>(plan_->cycles() - 1, sliderSteps)));
    slider_->setPageStep(static_cast<int>(std::clamp<std::int64_t>(plan_->foldCycles, 1, sliderSteps)));
    strip_->show(*plan_);
    pages_->setCurrentIndex(1);
    applySpeed();
    showCycle();
}

void SystolicAnimation::clear(const QString& why) {
    timer_.stop();
    plan_.reset();
    cycle_ = 0;
    empty_->setTexts(tr("Array animation"), why);
    setAccessibleDescription(why);
    pages_->setCurrentIndex(0);
}

void SystolicAnimation::setCycle(std::int64_t cycle) {
    if (!plan_) return;
    cycle = std::clamp<std::int64_t>(cycle, 0, plan_->cycles() - 1);
    if (cycle == cycle_) return;
    cycle_ = cycle;
    if (cycle_ == plan_->cycles() - 1) pause();
    showCycle();
    emit cycleChanged(cycle_);
}

void SystolicAnimation::showCycle() {
    picture_->show(*plan_, systolic::snapshot(*plan_, cycle_));
    strip_->setCycle(cycle_);
    const std::int64_t last = plan_->cycles() - 1;
    {
        const QSignalBlocker quiet(slider_);
        slider_->setValue(last <= sliderSteps ? static_cast<int>(cycle_)
                                              : static_cast<int>(static_cast<double>(cycle_) * sliderSteps /
                                                                 static_cast<double>(last)));
    }
    const auto& shot = picture_->shot();
    const QLocale locale;
    const QString words = tr("Cycle %1 of %2 · fold %3 of %4 · %5 % at work")
                              .arg(locale.toString(static_cast<qlonglong>(cycle_ + 1)),
                                   locale.toString(static_cast<qlonglong>(plan_->cycles())),
                                   locale.toString(static_cast<qlonglong>(shot.fold.index + 1)),
                                   locale.toString(static_cast<qlonglong>(plan_->folds())),
                                   locale.toString(100 * shot.utilization(), 'f', 0));
    where_->setText(words);
    setAccessibleDescription(words);
    showElement();
}

void SystolicAnimation::showElement() {
    const auto element = picture_->current();
    element_->setFullText(element && plan_ ? elementText(picture_->shot(), element->y(), element->x())
                                           : QStringLiteral(" "));
}

void SystolicAnimation::step(int cycles) {
    pause();
    setCycle(cycle_ + cycles);
}

void SystolicAnimation::stepFold(int folds) {
    if (!plan_) return;
    pause();
    const std::int64_t fold = cycle_ / plan_->foldCycles;
    // Back goes to the beginning of this fold first, as players do with songs.
    if (folds < 0 && cycle_ != fold * plan_->foldCycles) return setCycle(fold * plan_->foldCycles);
    setCycle((fold + folds) * plan_->foldCycles);
}

void SystolicAnimation::applySpeed() {
    const Speed& speed = speeds[std::clamp<int>(speed_->currentIndex(), 0, static_cast<int>(std::size(speeds)) - 1)];
    timer_.setInterval(speed.milliseconds);
    perTick_ = plan_ && speed.ticks > 0 ? std::max<std::int64_t>(1, plan_->cycles() / speed.ticks) : 1;
}

void SystolicAnimation::tick() {
    setCycle(cycle_ + perTick_);
}

void SystolicAnimation::run() {
    if (!plan_) return;
    if (cycle_ == plan_->cycles() - 1) setCycle(0);
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
    if (!plan_) return QWidget::keyPressEvent(event);
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
        return picture_->setCurrent(QPoint(std::clamp<int>(to.x(), 0, static_cast<int>(plan_->cols) - 1),
                                           std::clamp<int>(to.y(), 0, static_cast<int>(plan_->rows) - 1)));
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
            return setCycle(plan_->cycles() - 1);
        case Qt::Key_PageUp:
            return stepFold(-1);
        case Qt::Key_PageDown:
            return stepFold(1);
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace orrery::ui
